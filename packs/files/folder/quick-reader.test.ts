import { execFileSync } from "node:child_process"
import { linkSync, mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { openFolder } from "./local-folder.ts"
import { QuickReader } from "./quick-reader.ts"

function place() {
  const base = mkdtempSync(join(tmpdir(), inject("testRun"), "quick-"))
  const [root, outside] = [join(base, "root"), join(base, "outside")]
  for (const folder of [join(root, "src", "deep"), outside]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(root, "src", "a.txt"), "inside")
  writeFileSync(join(root, "src", "deep", "b.txt"), "deep")
  writeFileSync(join(root, "top.txt"), "top")
  writeFileSync(join(outside, "a.txt"), "SECRET")
  return { root, outside }
}

const grounds = process.platform === "linux" ? (["descriptors", "names"] as const) : (["names"] as const)

describe.each(grounds)("files read in a row, by %s", (by) => {
  test("are only those of the folder, without targets of links outside", () => {
    const { root, outside } = place()
    symlinkSync(join(outside, "a.txt"), join(root, "src", "link.txt"))
    symlinkSync(outside, join(root, "lie"))
    symlinkSync("src/a.txt", join(root, "near.txt"))
    linkSync(join(root, "top.txt"), join(root, "hard.txt"))
    execFileSync("mkfifo", [join(root, "src", "pipe")])
    writeFileSync(join(root, "large.txt"), "x".repeat(101))
    writeFileSync(join(root, "most.txt"), "x".repeat(100))
    using folder = openFolder(root, by)
    using reader = new QuickReader(folder, 100)
    const read = (path: string) => reader.read(path)?.toString()
    expect(["top.txt", "src/a.txt", "src/deep/b.txt", "src/a.txt", "near.txt", "hard.txt"].map(read)).toEqual([
      "top",
      "inside",
      "deep",
      "inside",
      "inside",
      "top",
    ])
    expect(
      ["src/link.txt", "lie/a.txt", "../outside/a.txt", "src/pipe", "src", "nothing", "src/no/no"].map(read),
    ).toEqual(Array.from({ length: 7 }, () => undefined))
    expect([read("large.txt"), read("most.txt")?.length]).toEqual(["large", 100])
  })

  test("are not read in a directory that was moved out of the folder, or swapped for a link, since it was entered", () => {
    const { root, outside } = place()
    using folder = openFolder(root, by)
    using reader = new QuickReader(folder, 100)
    expect(reader.read("src/a.txt")?.toString()).toBe("inside")
    renameSync(join(root, "src"), join(outside, "src"))
    expect(reader.read("src/a.txt")).toBeUndefined()
    symlinkSync(outside, join(root, "src"))
    expect(reader.read("src/a.txt")).toBeUndefined()
    expect(reader.read("top.txt")?.toString()).toBe("top")
  })

  test("are returned only if they are wanted, and the next one is still read", () => {
    const { root } = place()
    using folder = openFolder(root, by)
    using reader = new QuickReader(folder, 100)
    const isWanted = (bytes: Buffer) => bytes.includes("deep")
    const read = (path: string) => reader.read(path, isWanted)?.toString()
    expect(["src/a.txt", "src/deep/b.txt", "top.txt", "nothing"].map(read)).toEqual([
      undefined,
      "deep",
      undefined,
      undefined,
    ])
  })

  test("do not include excluded paths", () => {
    const { root } = place()
    using folder = openFolder(root, by, [join(root, "src", "deep")])
    using reader = new QuickReader(folder, 100)
    expect([reader.read("src/deep/b.txt"), reader.read("src/a.txt")?.toString()]).toEqual([undefined, "inside"])
  })
})
