import { expect, test } from "vitest"
import { findTableFault } from "./check-tables.ts"

const loans = { name: "pack_books_loan", person: "person", exported: ["id"] }
const CREATE = "CREATE TABLE pack_books_loan (\n  id TEXT NOT NULL PRIMARY KEY,\n  person TEXT NOT NULL)"
const steps = (...statements: string[]) => [{ name: "001", statements }]

test("tables with the prefix of their pack, an id and a person are accepted, as are statements on them", () => {
  expect(findTableFault("books", [], [])).toBeUndefined()
  const all = [CREATE, "CREATE UNIQUE INDEX pack_books_loan_person ON pack_books_loan (person);"]
  const more = ["ALTER TABLE pack_books_loan ADD COLUMN title TEXT", "UPDATE pack_books_loan SET title = ''"]
  expect(findTableFault("books", [loans], steps(...all, ...more))).toBeUndefined()
  const each = [{ name: "001", statements: { sqlite: [CREATE], postgres: [CREATE] } }]
  expect(findTableFault("books", [loans], each)).toBeUndefined()
  const old = "CREATE TABLE pack_books_old (id INTEGER)"
  expect(findTableFault("books", [loans], steps(CREATE, old, "DROP TABLE pack_books_old"))).toBeUndefined()
})

test.each([
  ["a table of another name", [{ ...loans, name: "loan" }], steps(CREATE), "must be called pack_books_…"],
  ["a table of another pack", [loans], steps(CREATE, "DROP TABLE pack_bookstore_x"), "begin with pack_books_"],
  ["a table of the server's", [loans], steps(CREATE, "DELETE FROM person"), "is about person"],
  ["what is no change of a schema", [loans], steps(CREATE, "PRAGMA foreign_keys = OFF"), "neither makes, changes nor"],
  ["two statements in one", [loans], steps(`${CREATE}; DROP TABLE pack_books_loan`), "has a semicolon"],
  ["a table without an id", [loans], steps(CREATE.replace("id TEXT", "id INTEGER")), '"id TEXT NOT NULL"'],
  ["a table without its person", [loans], steps(CREATE.replace("person", "owner")), '"person TEXT NOT NULL"'],
  ["a table that nothing makes", [loans], [], "no migration of it makes its table pack_books_loan"],
  ["a table whose people nobody knows", [], steps(CREATE), "do not say whose rows are in there"],
  ["a table that is renamed", [loans], steps(CREATE, "ALTER TABLE pack_books_loan RENAME TO pack_books_b"), "renames"],
  ["two steps of one name", [loans], [...steps(CREATE), ...steps(CREATE)], "001 twice"],
])("%s is refused", (_what, tables, migrations, fault) => {
  expect(findTableFault("books", tables, migrations)).toContain(fault)
})
