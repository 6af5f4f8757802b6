import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { commonStart, findPaths } from "./find-paths.ts"

const never = new AbortController().signal

test("finds files and folders by prefix, hidden ones after a dot, links by their target", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "paths-"))
  for (const name of ["Notes.txt", "nothing else.md", "other", ".env", "Übung.pdf", "line\nbreak"])
    writeFileSync(join(folder, name), "")
  mkdirSync(join(folder, "nested"))
  mkdirSync(join(folder, "closed"))
  chmodSync(join(folder, "closed"), 0)
  symlinkSync(join(folder, "nested"), join(folder, "nlink"))
  symlinkSync(join(folder, "nowhere"), join(folder, "nowhere"))
  const matches = async (typed: string) => (await findPaths(`${folder}/${typed}`, never)).map(({ name }) => name)
  expect(await matches("n")).toEqual(["Notes.txt", "nested/", "nlink/", "nothing else.md"])
  expect(await matches("")).not.toContain(".env")
  expect(await matches("")).not.toContain("line\nbreak")
  expect(await matches(".")).toEqual([".env"])
  // macOS decomposes umlauts.
  expect(await matches("u\u0308b")).toEqual(["Übung.pdf"])
  for (const none of ["nested/", "nowhere/", "closed/x", "zzz"]) expect(await matches(none), none).toEqual([])
  expect(await findPaths("~", never)).toMatchObject([{ path: "~/" }])
})

test("a huge folder is read up to a limit, and not at all after an abort", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "paths-"))
  for (let number = 0; number < 800; number++) writeFileSync(join(folder, `file ${number}`), "")
  expect(await findPaths(`${folder}/`, never)).toHaveLength(500)
  expect(await findPaths(`${folder}/`, AbortSignal.abort())).toEqual([])
})

test("a common prefix is spelled like the first name", () => {
  expect(commonStart(["a/Notes 1.txt", "a/notes 2.txt"])).toBe("a/Notes ")
  expect(commonStart(["👩‍🚀.png", "👩‍🔬.png"])).toBe("👩‍")
  expect(commonStart(["a", "b"])).toBe("")
})
