import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { commonStart, findPaths } from "./find-paths.ts"

const never = new AbortController().signal

test("files and folders that begin so are found, hidden ones when their dot is written, links by what they lead to", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "paths-"))
  for (const name of ["Notes.txt", "nothing else.md", "other", ".env", "Übung.pdf", "line\nbreak"])
    writeFileSync(join(folder, name), "")
  mkdirSync(join(folder, "nested"))
  mkdirSync(join(folder, "closed"))
  chmodSync(join(folder, "closed"), 0)
  symlinkSync(join(folder, "nested"), join(folder, "nlink"))
  symlinkSync(join(folder, "nowhere"), join(folder, "nowhere"))
  const found = async (begun: string) => (await findPaths(`${folder}/${begun}`, never)).map(({ name }) => name)
  expect(await found("n")).toEqual(["Notes.txt", "nested/", "nlink/", "nothing else.md"])
  expect(await found("")).not.toContain(".env")
  expect(await found("")).not.toContain("line\nbreak")
  expect(await found(".")).toEqual([".env"])
  // As a Mac writes it: the dots are a sign of their own.
  expect(await found("u\u0308b")).toEqual(["Übung.pdf"])
  for (const none of ["nested/", "nowhere/", "closed/x", "zzz"]) expect(await found(none), none).toEqual([])
  expect(await findPaths("~", never)).toMatchObject([{ path: "~/" }])
})

test("of a huge folder so many are taken as anybody could use, and none once nobody waits for them", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "paths-"))
  for (let number = 0; number < 800; number++) writeFileSync(join(folder, `file ${number}`), "")
  expect(await findPaths(`${folder}/`, never)).toHaveLength(500)
  expect(await findPaths(`${folder}/`, AbortSignal.abort())).toEqual([])
})

test("what names have in common is written as the first of them is", () => {
  expect(commonStart(["a/Notes 1.txt", "a/notes 2.txt"])).toBe("a/Notes ")
  expect(commonStart(["👩‍🚀.png", "👩‍🔬.png"])).toBe("👩‍")
  expect(commonStart(["a", "b"])).toBe("")
})
