import { expect, test } from "vitest"
import { unfinishedReference, droppedPaths, referencedPaths, toReference } from "./file-references.ts"

test.each([
  "notes.txt",
  "my notes.txt",
  'a "quoted" name.md',
  "icon@2x.png",
  "Übung 日本.pdf",
  "what is this?",
  "/a/b.c",
])("%s is named so that it is read again as it is", (path) => {
  expect(referencedPaths(`See ${toReference(path, false)}, and more`)).toEqual([path])
})

test("finds the unfinished path at the cursor, quoted or not", () => {
  const at = (text: string) => unfinishedReference({ text: text.replace("|", ""), at: text.indexOf("|") })
  expect(at("see @no| more")).toEqual({ from: 4, path: "no", isQuoted: false })
  expect(at('@"my fi|')).toEqual({ from: 0, path: "my fi", isQuoted: true })
  expect(at('@"a @b|')).toEqual({ from: 0, path: "a @b", isQuoted: true })
  expect(at("@|")).toEqual({ from: 0, path: "", isQuoted: false })
  for (const none of ["ada@ex|", "plain|", '@"a b" c|', "@a b|"]) expect(at(none), none).toBeUndefined()
})

test("the text of a dropped file is read as its path, and other text is not", () => {
  const cases: [string, string[]][] = [
    ["/tmp/a.png ", ["/tmp/a.png"]],
    ["'/tmp/my file.png'", ["/tmp/my file.png"]],
    [String.raw`'/tmp/it'\''s.png'`, ["/tmp/it's.png"]],
    [String.raw`/tmp/my\ file\ \(1\).png`, ["/tmp/my file (1).png"]],
    ["file:///tmp/%C3%9C%20a.png", ["/tmp/Ü a.png"]],
    ['"/tmp/a b" /tmp/c', ["/tmp/a b", "/tmp/c"]],
  ]
  for (const [text, paths] of cases) expect(droppedPaths(text), text).toEqual(paths)
  const words = ["a.png", "see /tmp/a.png", "", "file://elsewhere/a", "it's /tmp/a", "x".repeat(9000), "/tmp/a\u0007"]
  for (const text of words) expect(droppedPaths(text), text).toBeUndefined()
})
