import { copyFileSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { sqliteKind } from "../../../packs/analyst/sqlite/kind.ts"
import { type ConnectionId, newId } from "../../../core/protocol/ids.ts"
import { dataFolder } from "../../support/processes/pawl-process.ts"
import { type OpenChanges, openChanges } from "../change-kind.ts"

// Each change is a process or two.
describe("a change of a SQLite file", { timeout: 120_000 }, () => {
  let changes: OpenChanges
  beforeAll(async () => {
    changes = await openChanges("sqlite")
    for (const sql of [
      "CREATE TABLE badge (id INTEGER PRIMARY KEY, code TEXT UNIQUE, said TEXT)",
      "INSERT INTO badge VALUES (1, 'a', 'first'), (2, 'b', 'second')",
      "CREATE TABLE strict_badge (id INTEGER PRIMARY KEY, code TEXT UNIQUE ON CONFLICT REPLACE)",
      "INSERT INTO strict_badge VALUES (1, 'a')",
    ])
      await changes.target.rows(sql)
  })
  afterAll(() => changes.close())

  test("is identified by its own table, not by those that foreign keys cascade to", async () => {
    const sql = "DELETE FROM customer WHERE id = 1"
    const { verb, table, before, notes, revision } = await changes.rehearse(sql)
    expect([verb, table, before]).toEqual(["DELETE", "customer", [[1, "Ada", "London"]]])
    expect(notes.join(" ")).toContain("deletes 2 row(s) of purchase")
    await changes.target.rows("UPDATE customer SET town = 'Leeds' WHERE id = 1")
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
    let mark = ""
    await changes.apply(sql, undefined, async (given) => void (mark = given))
    expect(JSON.parse(mark)).toMatchObject({ table: "customer", rows: ["1"] })
    expect(await changes.kind.outcome(changes.place, mark)).toBe("applied")
  })

  test.each([
    "INSERT OR REPLACE INTO badge VALUES (9, 'a', 'instead of 1')",
    "REPLACE INTO badge (code) VALUES ('a'), ('b')",
    "UPDATE OR REPLACE badge SET code = 'a' WHERE id = 2",
    "INSERT INTO strict_badge VALUES (9, 'a')",
    "INSERT INTO badge VALUES (1, 'z', '') ON CONFLICT (id) DO UPDATE SET id = 7",
  ])("that would delete rows without showing them is refused: %s", async (sql) => {
    await expect(changes.rehearse(sql)).rejects.toMatchObject({ code: "change_refused" })
    expect(await changes.target.rows("SELECT count(*) FROM badge")).toEqual([[2]])
  })

  test("that replaces the rows it shows, or updates existing ones, is applied", async () => {
    const replaced = await changes.rehearse("INSERT OR REPLACE INTO badge VALUES (1, 'a', 'again'), (5, 'e', 'new')")
    expect([replaced.affected, replaced.before]).toEqual([2, [[1, "a", "first"]]])
    const upsert =
      "INSERT INTO badge VALUES (2, 'x', 'u'), (6, 'f', ''), (6, 'f', '') ON CONFLICT (id) DO UPDATE SET said = 'v'"
    expect((await changes.apply(upsert)).before).toEqual([[2, "b", "second"]])
    await changes.target.rows("DELETE FROM badge WHERE id = 6")
    const fresh = "INSERT INTO badge VALUES (8, 'h', '') ON CONFLICT (id) DO UPDATE SET said = ''"
    expect((await changes.rehearse(fresh)).notes).toEqual(["Rows that are there already are overwritten."])
  })

  test("does not grow the databases of a user's uploads beyond their limit", async () => {
    const root = dataFolder()
    const user = newId("user")
    const folder = join(root, user, "csv")
    mkdirSync(folder, { recursive: true })
    const open = (id: ConnectionId) => {
      const db = new DatabaseSync(join(folder, `${id}.db`))
      db.exec("CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)")
      db.prepare("INSERT INTO row (text) VALUES (?)").run("x".repeat(100_000))
      db.close()
      return { target: { kind: "sqlite", path: `csv/${id}.db`, writable: true } as const, user }
    }
    const [first, other] = [open(newId("conn", user)), open(newId("conn", user))]
    const kind = sqliteKind({ root, mostUploaded: 400_000 })
    const apply = async (to: typeof first, sql: string) => {
      const place = { ...to, signal: new AbortController().signal }
      const { revision } = await kind.rehearse(place, sql)
      return kind.apply(place, sql, { expected: revision, record: async () => undefined })
    }
    const grow = "INSERT INTO row (text) SELECT text FROM row WHERE id = 1"
    await apply(first, grow)
    for (const each of [first, other])
      await expect(
        apply(each, `${grow} UNION ALL SELECT text || '1' FROM row UNION ALL SELECT text || '2' FROM row`),
      ).rejects.toMatchObject({
        code: "change_refused",
        message: expect.stringContaining("Delete rows or uploads"),
      })
    // A statement that frees space is applied, and frees it.
    await apply(first, "DELETE FROM row WHERE id = 2")
    await apply(first, "UPDATE row SET text = 'short' WHERE id = 1")
    await kind.close()
  })

  const NAMED = "CREATE TABLE named (code TEXT PRIMARY KEY, kind TEXT DEFAULT 'x', at TEXT DEFAULT CURRENT_TIMESTAMP)"
  test("is stale if the values that the statement supplies have changed", async () => {
    await changes.target.rows(NAMED)
    let round = 0
    for (const sql of [
      "INSERT INTO named (code) SELECT said FROM badge WHERE id = 1",
      "INSERT INTO named (code, kind) SELECT 'c', said FROM badge WHERE id = 1",
      "INSERT INTO named (code, at) SELECT 'c', said FROM badge WHERE id = 1",
      "INSERT INTO named SELECT 'c', 'k', said FROM badge WHERE id = 1",
      "INSERT INTO customer (id, name) SELECT length(said) * 100, 'x' FROM badge WHERE id = 1",
      "INSERT INTO customer SELECT length(said) * 100, 'x', 'y' FROM badge WHERE id = 1",
      "UPDATE badge SET id = 40 WHERE id = 1",
      "UPDATE badge SET id = 41, said = 'the same' WHERE id = 1",
      "INSERT INTO named (code, kind, at) VALUES ((SELECT said FROM badge WHERE id = 1), 'k', datetime('now'))",
      "UPDATE badge SET code = datetime('now'), said = said || '!' WHERE id = 1",
      // The time decides which rows there are, not what is in them.
      "INSERT INTO named (code, kind) SELECT 'c', said FROM badge WHERE id = 1 AND date('now') > '2000'",
      "INSERT INTO customer SELECT length(said) * 100, 'x', NULL FROM badge WHERE id = 1 AND said IS NOT NULL",
    ]) {
      const { revision } = await changes.rehearse(sql)
      expect((await changes.rehearse(sql)).revision).toBe(revision)
      await changes.target.rows(`UPDATE badge SET said = said || '${round++}' WHERE id = 1`)
      await expect(changes.apply(sql, revision), sql).rejects.toMatchObject({ code: "row_stale" })
    }
  })

  test("is not stale if the database generates numbers and times", async () => {
    await changes.target.rows("CREATE TABLE line (id INTEGER PRIMARY KEY, said TEXT, at TEXT DEFAULT (random()))")
    for (const sql of [
      "INSERT INTO line (said) VALUES ('a')",
      'INSERT INTO main."line" AS x (said) VALUES (1)',
      "INSERT INTO line (id, said) VALUES (NULL, 'b')",
      "INSERT INTO line DEFAULT VALUES",
      "INSERT INTO line VALUES (NULL, 'c', random()), (NULL, 'd', CURRENT_TIMESTAMP)",
      "WITH x AS (SELECT 'e' AS said) INSERT INTO line (said, at) SELECT said, julianday('now') FROM x",
      "INSERT INTO line (said, at) VALUES ('(', 'a,b'), (')', strftime('%s', 'now'))",
    ]) {
      const { revision, made } = await changes.rehearse(sql)
      expect(made, sql).toEqual(["id", "at"])
      await changes.target.rows("INSERT INTO line (said) VALUES ('meanwhile')")
      expect((await changes.apply(sql, revision)).affected, sql).toBeGreaterThan(0)
    }
  })

  test("that takes its values from a subquery with the time or random values warns that it may be stale each time", async () => {
    const sql = "INSERT INTO customer WITH x AS (SELECT random() AS r) SELECT 900, 'x', r FROM x"
    const { notes, made, revision } = await changes.rehearse(sql)
    expect([made, notes]).toEqual([[], [expect.stringContaining("stale each time")]])
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
    const plain = "INSERT INTO customer SELECT 900, 'x', 'y' FROM badge WHERE date('now') > '2000'"
    expect((await changes.rehearse(`${plain} LIMIT 1`)).notes).toEqual([])
  })

  test("is compared if only a text in it mentions random values and time", async () => {
    await changes.target.rows("CREATE TABLE said (id INTEGER PRIMARY KEY, text TEXT, date TEXT)")
    const words = "'random() of now, current_date and ''now'''"
    const { made } = await changes.rehearse(`INSERT INTO said VALUES (1, ${words}, date('2026-01-31'))`)
    const { made: set } = await changes.rehearse(`UPDATE said SET text = ${words}, date = date(text)`)
    expect([made, set]).toEqual([[], []])
  })

  test("of a key shows the old rows, also if foreign keys lead back to the table", async () => {
    await changes.target.rows(
      "CREATE TABLE tree (id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree (id) ON UPDATE CASCADE)",
    )
    await changes.target.rows("INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2)")
    const { before, after } = await changes.apply("UPDATE tree SET id = id + 10 WHERE id < 3")
    expect(before).toEqual([
      [1, null],
      [2, 1],
    ])
    expect(after).toEqual([
      [11, null],
      [12, 11],
    ])
    const ignored = "UPDATE OR IGNORE tree SET id = 12 WHERE id IN (11, 3)"
    expect((await changes.rehearse(ignored)).affected).toBe(0)
  })

  test("of a key pairs each old row with its new one", async () => {
    await changes.target.rows("CREATE TABLE step (id INTEGER PRIMARY KEY, said TEXT)")
    await changes.target.rows("INSERT INTO step VALUES (10, 'a'), (20, 'b'), (30, 'c')")
    const sql = "UPDATE step SET id = 60 - id WHERE id > 10"
    const refused = changes.rehearse("UPDATE OR REPLACE step SET id = 30 WHERE id = 10")
    await expect(refused).rejects.toMatchObject({ code: "change_refused" })
    await changes.target.rows("DELETE FROM step WHERE id = 30")
    await changes.target.rows("INSERT INTO step VALUES (35, 'c')")
    const { before, after, notes } = await changes.apply(sql)
    expect(before).toEqual([
      [20, "b"],
      [35, "c"],
    ])
    expect(after).toEqual([
      [40, "b"],
      [25, "c"],
    ])
    expect(notes).toEqual(["The key of rows changes."])
    expect(await changes.target.rows("SELECT * FROM step ORDER BY id")).toEqual([
      [10, "a"],
      [25, "c"],
      [40, "b"],
    ])
  })

  test("that may replace rows in a table with triggers shows which rows it deletes, or is refused", async () => {
    for (const sql of [
      "CREATE TABLE spot (id INTEGER PRIMARY KEY, code TEXT UNIQUE, said TEXT)",
      "CREATE TABLE log (said TEXT)",
      "INSERT INTO spot VALUES (1, 'a', 'first'), (2, 'b', 'second')",
      "CREATE TRIGGER noting AFTER INSERT ON spot BEGIN INSERT INTO log VALUES (new.code), (new.said); END",
    ])
      await changes.target.rows(sql)
    const hidden = "INSERT OR REPLACE INTO spot VALUES (9, 'a', 'instead of 1')"
    await expect(changes.rehearse(hidden)).rejects.toMatchObject({ code: "change_refused" })
    const seen = await changes.rehearse("REPLACE INTO spot VALUES (1, 'a', 'again')")
    expect([seen.before, seen.affected]).toEqual([[[1, "a", "first"]], 1])
    // A trigger that inserts a row in place of the deleted one: the counts alone would not show it.
    await changes.target.rows(
      "CREATE TRIGGER filling AFTER INSERT ON spot WHEN new.id > 5 BEGIN INSERT INTO spot VALUES (1, 'other', 'not yours'); END",
    )
    await expect(changes.rehearse(hidden)).rejects.toMatchObject({ code: "change_refused" })
    expect((await changes.rehearse("INSERT INTO spot VALUES (3, 'c', '')")).affected).toBe(1)
    expect(await changes.target.rows("SELECT * FROM spot")).toHaveLength(2)
  })

  test("reports what triggers change in its rows, and compares it if it is always the same", async () => {
    for (const sql of [
      "CREATE TABLE doc (id INTEGER PRIMARY KEY, said TEXT, length INTEGER, created TEXT, touched TEXT)",
      "CREATE TRIGGER stamping AFTER INSERT ON doc BEGIN UPDATE doc SET created = random() WHERE id = new.id; END",
      "CREATE TRIGGER touching AFTER UPDATE OF said ON doc BEGIN UPDATE doc SET touched = random() WHERE id = new.id; END",
      "CREATE TABLE sum (id INTEGER PRIMARY KEY, said TEXT, length INTEGER)",
      "CREATE TRIGGER summing AFTER UPDATE OF said ON sum BEGIN UPDATE sum SET length = (SELECT count(*) FROM doc) WHERE id = new.id; END",
      "INSERT INTO sum VALUES (1, 'a', 0)",
    ])
      await changes.target.rows(sql)
    for (const [sql, made] of [
      ["INSERT INTO doc (id, said) VALUES (1, 'replace me')", ["created"]],
      ["UPDATE doc SET said = 'replace'", ["touched"]],
    ] as const) {
      const { revision, made: told } = await changes.rehearse(sql)
      expect(told).toEqual(made)
      expect((await changes.apply(sql, revision)).affected).toBe(1)
    }
    const sql = "UPDATE sum SET said = 'b'"
    const { revision, made } = await changes.rehearse(sql)
    await changes.target.rows("INSERT INTO doc (said) VALUES ('more')")
    expect(made).toEqual([])
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
  })

  test("is rehearsed with little memory, and users take turns", async () => {
    await changes.target.rows("CREATE TABLE heap (bytes BLOB)")
    const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    const growing = `${endless} INSERT INTO heap SELECT zeroblob(8000000) FROM n LIMIT 130`
    await expect(changes.rehearse(growing)).rejects.toMatchObject({
      code: expect.stringMatching(/query_failed|connection_failed/),
    })
    const stop = new AbortController()
    const place = { ...changes.place, signal: stop.signal }
    const slow = `${endless} UPDATE customer SET town = 'x' WHERE id = (SELECT max(i) FROM n)`
    const ends = Promise.allSettled(Array.from({ length: 23 }, () => changes.kind.rehearse(place, slow)))
    const refused = changes.kind.rehearse(place, slow)
    await expect(refused).rejects.toMatchObject({ code: "too_many" })
    stop.abort(new Error("enough"))
    expect((await ends).filter((end) => end.status === "rejected" && end.reason === stop.signal.reason)).toHaveLength(
      21,
    )
    expect((await changes.rehearse("UPDATE customer SET town = 'x'")).affected).toBeGreaterThan(0)
  })

  test("that changes no value cannot be distinguished from what another program did in the meantime", async () => {
    let mark = ""
    const dead = async (given: string) => {
      mark = given
      throw new Error("it died here")
    }
    await changes.apply("UPDATE customer SET town = town", undefined, dead).catch(() => {})
    expect(await changes.kind.outcome(changes.place, mark)).toBe("not-applied")
    await changes.target.rows("UPDATE badge SET said = said || '.'")
    expect(await changes.kind.outcome(changes.place, mark)).toBe("unknown")
  })

  test("has an unknown outcome if the connection leads to another file now", async () => {
    const [[file]] = (await changes.target.rows("SELECT file FROM pragma_database_list")) as [[string]]
    copyFileSync(file, join(dirname(file), "copy.db"))
    let mark = ""
    const sql = "UPDATE customer SET town = 'Kiel' WHERE id = 3"
    await changes.apply(sql, undefined, async (given) => void (mark = given))
    const target = { kind: "sqlite", path: "copy.db", writable: true } as const
    expect(await changes.kind.outcome({ ...changes.place, target }, mark)).toBe("unknown")
    expect(await changes.kind.outcome(changes.place, mark)).toBe("applied")
  })
})
