import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test, vi } from "vitest"
import { fileHash } from "./folder.ts"
import { UndoFolder } from "./undo-bytes.ts"

const done = vi.hoisted((): string[] => [])

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>()
  return {
    ...fs,
    fsyncSync(fd: number) {
      done.push(`made durable: ${fs.readlinkSync(`/proc/self/fd/${fd}`)}`)
      fs.fsyncSync(fd)
    },
    renameSync(from: string, to: string) {
      done.push("named")
      fs.renameSync(from, to)
    },
  }
})

test.skipIf(process.platform !== "linux")(
  "what is kept is durable under its name: the bytes first, then the folders",
  () => {
    const base = mkdtempSync(join(tmpdir(), inject("testRun"), "kept-"))
    const bytes = Buffer.from("old")
    new UndoFolder(join(base, "kept")).store(bytes)
    const path = join(base, "kept", fileHash(bytes))
    expect(done).toEqual([
      `made durable: ${path}.${process.pid}`,
      "named",
      `made durable: ${join(base, "kept")}`,
      `made durable: ${base}`,
    ])
  },
)
