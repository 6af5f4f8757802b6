import { describe, expect, test } from "vitest"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import type { PackMigration, PackTable } from "../../core/engine/pack-services.ts"
import { openPackTables } from "../../core/store/packs/tables.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"

const loans: PackTable = { name: "pack_books_loan", person: "person", exported: ["id", "title"] }
const makesLoans: PackMigration = {
  name: "001_loans",
  statements: [
    "CREATE TABLE pack_books_loan (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, title TEXT NOT NULL)",
    "CREATE INDEX pack_books_loan_person ON pack_books_loan (person)",
  ],
}
const books = { pack: "books", tables: [loans], migrations: [makesLoans] }

const INSERT = "INSERT INTO pack_books_loan (id, person, title) VALUES (?, ?, ?)"
const lend = (user: UserId, title: string, id = title) => ({ sql: INSERT, values: [id, user, title] })
const open = (url: string) => openStore({ url, durability: "normal" })
const newCall = (user: UserId) => ({ callId: newId("call"), user })

const stepsOf = async ({ engine }: Store) => {
  const rows = await engine.query<{ name: string }>("SELECT name FROM migration WHERE name LIKE 'books/%'", [])
  return rows.map(({ name }) => name).sort()
}

async function exported(store: Store, user: UserId) {
  const lines: unknown[] = []
  for await (const line of store.retention.exportOf(user)) if (line.kind.startsWith("pack_")) lines.push(line)
  return lines
}

describe.each(databasesInTurn(import.meta.filename))("tables of packs on $name", ({ create }) => {
  test("are created once under the name of the pack, and later only changed by new steps", async () => {
    await using database = await create()
    await using store = await open(database.url)
    await store.openPackTables(books)
    await store.openPackTables(books)
    expect(await stepsOf(store)).toEqual(["books/001_loans"])
    const due = { name: "002_due", statements: ["ALTER TABLE pack_books_loan ADD COLUMN due TEXT"] }
    const tables = [{ ...loans, exported: ["id", "title", "due"] }]
    await store.openPackTables({ ...books, tables, migrations: [makesLoans, due] })
    expect(await stepsOf(store)).toEqual(["books/001_loans", "books/002_due"])
    const { id: ada } = await store.people.ensure("ada", 1)
    const opened = await store.openPackTables({ ...books, tables, migrations: [makesLoans, due] })
    await opened.change([lend(ada, "Dune")])
    expect(await exported(store, ada)).toEqual([{ kind: "pack_books_loan", id: "Dune", title: "Dune", due: null }])
  })

  test("count towards the storage of their people, also in a column that a later step adds", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const { id: ada } = await store.people.ensure("ada", 1)
    const stored = async () => Object.fromEntries(await store.storage.byTable(ada))
    const tables = await store.openPackTables(books)
    await tables.change([lend(ada, "Dune", "1")])
    const short = 100 + "1".length + ada.length + "Dune".length
    expect(await stored()).toEqual({ pack_books_loan: short })
    const due = { name: "002_due", statements: ["ALTER TABLE pack_books_loan ADD COLUMN due TEXT"] }
    await store.openPackTables({ ...books, migrations: [makesLoans, due] })
    await tables.change([{ sql: "UPDATE pack_books_loan SET due = ?", values: ["x".repeat(5000)] }])
    expect(await stored()).toEqual({ pack_books_loan: short + 5000 })
    const gone = { name: "003_gone", statements: ["DROP TABLE pack_books_loan"] }
    await store.openPackTables({ ...books, tables: [], migrations: [makesLoans, due, gone] })
    expect(await stored()).toEqual({})
  })

  test("are found by each of two nodes that start at once", async () => {
    await using database = await create()
    await using one = await open(database.url)
    await using two = await open(database.url)
    const opened = await Promise.all([one.openPackTables(books), two.openPackTables(books)])
    for (const tables of opened) expect(await tables.query("SELECT id FROM pack_books_loan")).toEqual([])
  })

  test("a failing step leaves nothing behind, and reports the database's message", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const broken = { name: "002_broken", statements: ["CREATE TABLE pack_books_half (id NONSENSE TEXT NOT NULL"] }
    const opening = store.openPackTables({ ...books, migrations: [makesLoans, broken] })
    await expect(opening).rejects.toThrow(/incomplete input|syntax error/)
    expect(await stepsOf(store)).toEqual([])
    await expect(store.engine.query("SELECT * FROM pack_books_loan", [])).rejects.toThrow("pack_books_loan")
  })

  test("a table that lacks a declared column is refused", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const tables = [{ ...loans, exported: ["id", "colour"] }]
    await expect(store.openPackTables({ ...books, tables })).rejects.toThrow("colour")
  })

  test("a call is applied once, however often it is repeated, and keeps its first outcome", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const { id: ada } = await store.people.ensure("ada", 1)
    const tables = await store.openPackTables(books)
    const call = newCall(ada)
    expect(await tables.applyOnce(call, [lend(ada, "Dune", "1")], "first")).toBe("first")
    expect(await tables.applyOnce(call, [lend(ada, "Dune", "2")], "second")).toBe("first")
    expect(await tables.query("SELECT id, title FROM pack_books_loan")).toEqual([{ id: "1", title: "Dune" }])
  })

  test("if a statement changes none of its required rows, nothing is done, and the call may be repeated", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const { id: ada } = await store.people.ensure("ada", 1)
    const tables = await store.openPackTables(books)
    const call = newCall(ada)
    const remove = { sql: "DELETE FROM pack_books_loan WHERE title = ?", values: ["Emma"], mustChange: true }
    expect(await tables.applyOnce(call, [lend(ada, "Dune"), remove], "done")).toBeUndefined()
    expect(await tables.change([lend(ada, "Dune"), remove])).toBe(false)
    expect(await tables.query("SELECT id FROM pack_books_loan")).toEqual([])
    expect(await tables.applyOnce(call, [lend(ada, "Dune")], "done")).toBe("done")
  })

  test("a person's rows are exported and erased with them, also if the pack is no longer loaded", async () => {
    await using database = await create()
    const people = await (async () => {
      await using store = await open(database.url)
      const [ada, bob] = [await store.people.ensure("ada", 1), await store.people.ensure("bob", 1)]
      const tables = await store.openPackTables(books)
      await tables.change([lend(ada.id, "Dune"), lend(bob.id, "Emma")])
      return { ada: ada.id, bob: bob.id }
    })()
    await using store = await open(database.url)
    expect(await exported(store, people.ada)).toEqual([{ kind: "pack_books_loan", id: "Dune", title: "Dune" }])
    await store.retention.erasePerson(people.ada)
    expect(await store.engine.query("SELECT id FROM pack_books_loan", [])).toEqual([{ id: "Emma" }])
    // The sweep deletes rows that a running tool writes for an erased person.
    await store.engine.change({ type: "statements", statements: [lend(people.ada, "Late")] })
    await store.retention.sweep()
    expect(await store.engine.query("SELECT id FROM pack_books_loan", [])).toEqual([{ id: "Emma" }])
  })

  test("a table that a later step drops causes no error", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const { id: ada } = await store.people.ensure("ada", 1)
    await store.openPackTables(books)
    const drop = { name: "002_drop", statements: ["DROP TABLE pack_books_loan"] }
    await store.openPackTables({ pack: "books", tables: [], migrations: [makesLoans, drop] })
    expect(await exported(store, ada)).toEqual([])
    expect(await store.retention.erasePerson(ada)).toBe(true)
  })

  test.each([1, 2, 3])("killed at write %i, a step that copies rows loses none of them", async (fatal) => {
    await using database = await create()
    await using store = await open(database.url)
    const { id: ada } = await store.people.ensure("ada", 1)
    await (await store.openPackTables(books)).change([lend(ada, "Dune")])
    const rename = {
      name: "002_rename",
      statements: [
        "CREATE TABLE pack_books_lent (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, title TEXT NOT NULL)",
        "INSERT INTO pack_books_lent SELECT id, person, title FROM pack_books_loan",
        "DROP TABLE pack_books_loan",
      ],
    }
    const tables = [{ ...loans, name: "pack_books_lent" }]
    const renamed = { pack: "books", tables, migrations: [makesLoans, rename] }
    const { engine } = store
    let writes = 0
    const dying = {
      ...engine,
      change: ((operation: never) => {
        if (++writes === fatal) throw new Error("killed")
        return engine.change(operation)
      }) as typeof engine.change,
    }
    await openPackTables(dying, Date.now, renamed).catch(() => {})
    expect(await exported(store, ada)).toMatchObject([{ title: "Dune" }])
    expect(await store.retention.erasePerson(ada)).toBe(true)
    await store.openPackTables(renamed)
    expect(await engine.query("SELECT id FROM pack_books_lent", [])).toEqual([])
  })

  test("a question mark in quotes or a comment is text; the others are parameters", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const { id: ada } = await store.people.ensure("ada", 1)
    const asks =
      "CREATE TABLE pack_books_loan (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, title TEXT DEFAULT 'Who?')"
    const tables = await store.openPackTables({ ...books, migrations: [{ name: "001", statements: [asks] }] })
    const insert = { sql: "INSERT INTO pack_books_loan (id, person) VALUES ('it''s ?', ?)", values: [ada] }
    expect(await tables.applyOnce(newCall(ada), [insert], "done")).toBe("done")
    const sql = `SELECT title AS "What?", person -- isn't it?
      FROM pack_books_loan /* not ?, nor * "this */ WHERE title = 'Who?' AND id <> '?' AND person = ?`
    expect(await tables.query(sql, [ada])).toEqual([{ "What?": "Who?", person: ada }])
    expect(await tables.query("SELECT id FROM pack_books_loan WHERE id LIKE '%?'")).toEqual([{ id: "it's ?" }])
  })

  test("a pack writes to its own tables, and reads by SELECT", async () => {
    await using database = await create()
    await using store = await open(database.url)
    const tables = await store.openPackTables(books)
    await expect(tables.change([{ sql: "DELETE FROM person" }])).rejects.toThrow("its own tables")
    await expect(tables.change([{ sql: "UPDATE pack_bookstore_x SET a = 1" }])).rejects.toThrow("its own tables")
    await expect(tables.query("DELETE FROM pack_books_loan")).rejects.toThrow("takes a SELECT")
  })
})
