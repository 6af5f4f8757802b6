import { execFileSync } from "node:child_process"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { type Answer, type CallContext, newId, type Preview } from "../../core/pack.ts"
import { deleteEntry } from "./delete-entry.ts"
import { deleteFile } from "./delete-file.ts"
import { openFolder } from "./folder/local-folder.ts"

const grounds = process.platform === "linux" ? (["descriptors", "names"] as const) : (["names"] as const)

function place(by: "descriptors" | "names") {
  const base = mkdtempSync(join(tmpdir(), inject("testRun"), "entry-"))
  const root = join(base, "root")
  mkdirSync(join(root, "empty", "inner"), { recursive: true })
  writeFileSync(join(base, "secret"), "SECRET")
  writeFileSync(join(root, "file.txt"), "kept")
  symlinkSync(join(base, "secret"), join(root, "out"))
  symlinkSync("file.txt", join(root, "near"))
  symlinkSync("nowhere", join(root, "dangling"))
  symlinkSync("empty", join(root, "folder-link"))
  execFileSync("mkfifo", [join(root, "pipe")])
  const folder = openFolder(root, by)
  const tool = deleteEntry(folder) as unknown as {
    preview(input: object, context: CallContext): Preview
    run(input: object, context: CallContext): Answer
    outcome(id: string, input: object, context: CallContext): Answer | string
  }
  const context = (agreed?: Preview) =>
    ({
      state: {},
      signal: new AbortController().signal,
      callId: newId("call"),
      approved: agreed,
    }) as unknown as CallContext
  const look = (path: string) => tool.preview({ path }, context())
  const run = (path: string, agreed: Preview) => tool.run({ path }, context(agreed))
  const outcome = (path: string, agreed: Preview) => tool.outcome("call", { path }, context(agreed))
  const isThere = (path: string) => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined
  return { base, root, folder, look, run, outcome, isThere, context }
}

describe.each(grounds)("by %s", (by) => {
  test("links, empty directories and pipes are shown as what they are and deleted; what a link leads to stays", () => {
    const { base, root, look, run, isThere } = place(by)
    const all = {
      out: `Delete the link out → ${join(base, "secret")}, and not what it leads to`,
      near: "Delete the link near → file.txt, and not what it leads to",
      dangling: "Delete the link dangling → nowhere, and not what it leads to",
      "folder-link": "Delete the link folder-link → empty, and not what it leads to",
      pipe: "Delete pipe, which is a pipe, a socket or a device",
      "empty/inner": "Delete the empty directory empty/inner",
    }
    for (const [path, summary] of Object.entries(all)) {
      const preview = look(path)
      expect(preview).toMatchObject({ summary, action: "destructive_delete" })
      expect(isThere(path)).toBe(true)
      run(path, preview)
      expect(isThere(path), path).toBe(false)
    }
    expect(readFileSync(join(base, "secret"), "utf8")).toBe("SECRET")
    expect(readFileSync(join(root, "file.txt"), "utf8")).toBe("kept")
    expect(existsSync(join(root, "empty"))).toBe(true)
  })

  test("a file, a directory with something in it, the folder itself and what lies outside are refused", () => {
    const { look, folder, context } = place(by)
    expect(() => look("file.txt")).toThrow("delete_file deletes it")
    expect(() => look("empty")).toThrow("is not empty")
    expect(() => look(".")).toThrow()
    expect(() => look("../secret")).toThrow("outside")
    expect(() => look("nothing")).toThrow("does not exist")
    const files = deleteFile({
      folder,
      undoBytes: { store() {}, get: () => undefined },
      plans: new Map(),
    }) as unknown as {
      preview(input: object, context: CallContext): Preview
    }
    for (const path of ["near", "out", "empty", "pipe"])
      expect(() => files.preview({ path }, context()), path).toThrow("delete_entry deletes it")
  })

  test("another thing that has got the name since stays, and after a crash the name tells", () => {
    const { root, look, run, outcome, isThere } = place(by)
    const agreed = look("near")
    expect(outcome("near", agreed)).toBe("not-applied")
    unlinkSync(join(root, "near"))
    expect(outcome("near", agreed)).toMatchObject({ text: "near is deleted." })
    symlinkSync("elsewhere", join(root, "near"))
    expect(() => run("near", agreed)).toThrow()
    expect(outcome("near", agreed)).toBe("unknown")
    expect(isThere("near")).toBe(true)
    const empty = look("empty/inner")
    writeFileSync(join(root, "empty", "inner", "new.txt"), "new")
    expect(() => run("empty/inner", empty)).toThrow("not empty")
    expect(existsSync(join(root, "empty", "inner", "new.txt"))).toBe(true)
  })
})
