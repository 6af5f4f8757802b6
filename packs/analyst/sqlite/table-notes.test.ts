import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { readNotes, toComment } from "./table-notes.ts"

const notes = { warnings: ["odd"], columns: [{ name: "a", note: "in €", warnings: ["line 3 holds */ x"] }] }

function notesOf(comment: string) {
  using db = new DatabaseSync(":memory:")
  db.exec(`CREATE TABLE t (a TEXT) ${comment === "" ? "" : `STRICT ${comment}`}`)
  return readNotes(db).get("t")
}

test("notes of a table are read as they were written", () => {
  expect(notesOf(toComment(notes))).toEqual(notes)
  expect(toComment({ warnings: [], columns: [{ name: "a", warnings: [] }] })).toBe("")
})

test.each([
  ["no JSON", "/* pawl: {] */"],
  ["nothing", "/* pawl: null */"],
  ["another shape", '/* pawl: {"warnings":"odd","columns":[]} */'],
  ["columns that are none", '/* pawl: {"warnings":[],"columns":[null]} */'],
  ["a warning without end", `/* pawl: {"warnings":["${"x".repeat(10_000)}"],"columns":[]} */`],
  ["a comment without end", `/* pawl: {"warnings":["odd"],"columns":[]}${" ".repeat(500_000)} */`],
])("a comment of another program, %s, is ignored", (_, comment) => {
  expect(notesOf(comment)).toBeUndefined()
})
