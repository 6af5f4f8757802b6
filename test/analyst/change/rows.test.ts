import { mkdirSync, mkdtempSync, readdirSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../../core/models/network/outbound-policy.ts"
import type { DatabaseChange, DatabaseKind, DatabaseUse } from "../../../packs/analyst/database/kind.ts"
import { postgresKind } from "../../../packs/analyst/postgres/kind.ts"
import { sqliteKind } from "../../../packs/analyst/sqlite/kind.ts"
import { PostgresTarget, SqliteTarget, type Target } from "../../../core/protocol/databases/connections.ts"
import type { UserId } from "../../../core/protocol/ids.ts"
import { type ChangeTarget, changeTargets, kinds } from "../change-targets.ts"

const user = "user_ada" as UserId
const { signal } = new AbortController()

describe.each(kinds)("a change of rows in %s", (name) => {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "rows-"))
  let target: ChangeTarget
  let kind: DatabaseKind
  let place: DatabaseUse<Target>

  beforeAll(async () => {
    mkdirSync(join(root, "shared"))
    target = await changeTargets[name](root, user)
    const postgres = () => postgresKind({ hosts: new OutboundPolicy(["127.0.0.1"]), superuserConnections: false })
    kind = (name === "sqlite" ? sqliteKind({ root }) : postgres()) as DatabaseKind
    const schema = name === "sqlite" ? SqliteTarget : PostgresTarget
    place = { target: schema.parse(target.connection), user, signal }
  })
  afterAll(async () => {
    await kind.close()
    await target.close()
  })

  const rehearse = (sql: string) => kind.rehearse(place, sql)
  const apply = async (sql: string, expected?: string, record: (mark: string) => Promise<void> = async () => {}) =>
    kind.apply(place, sql, { expected: expected ?? (await rehearse(sql)).revision, record })
  const idOf = (row: readonly unknown[]) => Number(row[0])

  test("is compared inside its own transaction, and rolled back if it differs", async () => {
    const sql = "UPDATE customer SET town = 'Kiel' WHERE id = 3"
    const { revision } = await rehearse(sql)
    await target.rows("UPDATE customer SET name = 'Cleo' WHERE id = 3")
    await expect(apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
    expect(await target.rows("SELECT town FROM customer WHERE id = 3")).toEqual([["Bonn"]])
  })

  test("is rolled back if its mark cannot be recorded", async () => {
    const lost = () => Promise.reject(new Error("the store is gone"))
    await expect(apply("UPDATE customer SET town = 'Kiel' WHERE id = 3", undefined, lost)).rejects.toThrow()
    expect(await target.rows("SELECT town FROM customer WHERE id = 3")).toEqual([["Bonn"]])
  })

  test("can be distinguished afterwards from one that was not applied", async () => {
    let mark = ""
    const asked: string[] = []
    await apply("UPDATE customer SET town = 'Ulm' WHERE id = 3", undefined, async (given) => void (mark = given))
    asked.push(await kind.outcome(place, mark))
    const dead = async (given: string) => {
      mark = given
      throw new Error("it died here")
    }
    await apply("UPDATE customer SET town = 'Ulm2' WHERE id = 3", undefined, dead).catch(() => {})
    asked.push(await kind.outcome(place, mark))
    // Another client writes something else.
    await apply("UPDATE customer SET town = 'Ulm3' WHERE id = 3", undefined, dead).catch(() => {})
    await target.rows("UPDATE purchase SET cents = cents + 1")
    asked.push(await kind.outcome(place, mark))
    expect(asked).toEqual(["applied", "not-applied", "not-applied"])
    const foreign = name === "sqlite" ? { counter: null } : { cluster: "1" }
    expect(await kind.outcome(place, JSON.stringify({ ...JSON.parse(mark), ...foreign }))).toBe("unknown")
  })

  test("shows the excerpt of a long text that changes, with dots where the text continues", async () => {
    const a = (count: number) => "a".repeat(count)
    await target.rows(`INSERT INTO customer VALUES (70, 'Long', '${a(900)}'), (71, 'Longer', '${a(200)}')`)
    const change = "SET town = substr(town, 1, 700) || 'X' || substr(town, 702)"
    const changed = await rehearse(`UPDATE customer ${change} WHERE id IN (70, 71)`)
    expect(changed.before?.map(([, , town]) => town)).toEqual([`…${a(200)}…`, a(200)])
    expect(changed.after?.map(([, , town]) => town)).toEqual([`…${a(100)}X${a(99)}…`, "…X"])
    const gone = await rehearse("DELETE FROM customer WHERE id = 70")
    expect(gone.before?.map(([, , town]) => town)).toEqual([`${a(200)}…`])
    await target.rows("DELETE FROM customer WHERE id IN (70, 71)")
  })

  test("shows every row once, whatever its table is called, and twenty at most", async () => {
    const table = `"Odd ""na'me;--"`
    await target.rows(`CREATE TABLE ${table} ("ro""w" INTEGER, "oid x" TEXT)`)
    const values = Array.from({ length: 30 }, (_, index) => `(${index}, 'x')`).join(", ")
    const added = await apply(`INSERT INTO ${table} ("ro""w", "oid x") VALUES ${values}`)
    expect([added.affected, added.after?.length, added.before]).toEqual([30, 20, []])
    const { affected, before, after } = await rehearse(`UPDATE ${table} SET "oid x" = 'y' WHERE "ro""w" < 25; -- done`)
    expect([affected, after?.length]).toEqual([25, 20])
    expect(before?.map(([, text]) => text)).toEqual(Array(20).fill("x"))
    expect((await rehearse(`DELETE FROM ${table}`)).before).toHaveLength(20)
    expect(Number((await target.rows(`SELECT count(*) FROM ${table}`))[0]?.[0])).toBe(30)
  })

  test("lists the triggers that run with it", async () => {
    await target.rows("CREATE TABLE seen (id INTEGER)")
    const make =
      name === "sqlite"
        ? ["CREATE TRIGGER watch AFTER UPDATE ON customer BEGIN INSERT INTO seen VALUES (new.id); END"]
        : [
            "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO seen VALUES (new.id); RETURN new; END'",
            "CREATE TRIGGER watch AFTER UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION see()",
          ]
    for (const sql of make) await target.rows(sql)
    const { notes, affected } = await rehearse("UPDATE customer SET town = 'x'")
    expect(affected).toBe(3)
    expect(notes.join(" ")).toContain("watch")
    expect(notes.join(" ")).toMatch(/it also (changes 3 more row\(s\)|adds 3 row\(s\) to seen)\./)
    expect(await target.rows("SELECT * FROM seen")).toEqual([])
    await target.rows(`DROP TRIGGER watch${name === "sqlite" ? "" : " ON customer"}`)
  })

  test("says whether it changes every row of the table", async () => {
    await target.rows("CREATE TABLE few (id INTEGER PRIMARY KEY, said TEXT)")
    await target.rows("INSERT INTO few VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    const all = async (sql: string) => (await rehearse(sql)).all
    expect(await all("DELETE FROM few")).toBe(true)
    expect(await all("UPDATE few SET said = 'x' WHERE id > 0")).toBe(true)
    expect(await all("UPDATE few SET said = 'x' WHERE id > 1")).toBe(false)
    expect(await all("DELETE FROM few WHERE id < 3")).toBe(false)
    expect(await all("INSERT INTO few VALUES (4, 'd')")).toBe(false)
  })

  test("names the tables that foreign keys affect, and what happens to their rows", async () => {
    const { notes } = await rehearse("DELETE FROM customer WHERE id = 1")
    expect(notes).toEqual(["By foreign keys or triggers it also deletes 2 row(s) of purchase."])
  })

  test("keeps the id of an existing row, and says so", async () => {
    const id = name === "sqlite" ? "INTEGER" : "SERIAL"
    await target.rows(`CREATE TABLE tag (id ${id} PRIMARY KEY, word TEXT UNIQUE NOT NULL, uses INTEGER)`)
    await target.rows("INSERT INTO tag (word, uses) VALUES ('old', 1)")
    const values = "INSERT INTO tag (word, uses) VALUES ('old', 5), ('new', 1)"
    const { made, kept } = await rehearse(`${values} ON CONFLICT (word) DO UPDATE SET uses = excluded.uses`)
    expect([made, kept]).toEqual([["id"], ["id"]])
  })

  test("is refused for anything but plain tables", async () => {
    await target.rows("CREATE VIEW londoners AS SELECT * FROM customer WHERE town = 'London'")
    const odd = name === "sqlite" ? ["CREATE TABLE bare (id TEXT PRIMARY KEY) WITHOUT ROWID"] : []
    for (const sql of odd) await target.rows(sql)
    await expect(rehearse("DELETE FROM londoners")).rejects.toMatchObject({
      code: expect.stringMatching(/refused|failed/),
    })
    if (name === "sqlite") {
      await expect(rehearse("INSERT INTO bare VALUES ('x')")).rejects.toMatchObject({ code: "change_refused" })
    }
  })

  test("is applied once at a time: the second of two concurrent ones waits or is refused", async () => {
    await target.rows("UPDATE purchase SET cents = 0")
    const sql = "UPDATE purchase SET cents = cents + 1"
    const { revision } = await rehearse(sql)
    const ends = await Promise.allSettled([apply(sql, revision), apply(sql, revision)])
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
    expect((await target.rows("SELECT cents FROM purchase")).map(idOf)).toEqual([1, 1])
  })

  test.runIf(name === "sqlite")("is refused for a shared file, or one behind a link", async () => {
    const file = (await target.rows("PRAGMA database_list"))[0]?.[2] as string
    const db = new DatabaseSync(join(root, "shared", "all.db"))
    db.exec("CREATE TABLE customer (id INTEGER PRIMARY KEY, town TEXT)")
    db.close()
    symlinkSync(file, join(root, user, "link.db"))
    for (const path of ["shared/all.db", "link.db", "../shared/all.db", "none.db"]) {
      const elsewhere = { target: { kind: "sqlite", path } as Target, user, signal }
      const made = kind.rehearse(elsewhere, "UPDATE customer SET town = 'x'")
      await expect(made).rejects.toMatchObject({ code: "file_not_allowed" })
    }
    const shared = { kind: "sqlite", path: "shared/all.db", writable: true } as Target
    await expect(kind.check(shared, user)).rejects.toMatchObject({ code: "bad_request" })
  })

  test.runIf(name === "sqlite")(
    "is applied to a file with a write-ahead log, and its outcome is unknown afterwards",
    async () => {
      await target.rows("PRAGMA journal_mode = WAL")
      let mark = ""
      const change: DatabaseChange = await apply(
        "UPDATE customer SET town = 'Wal'",
        undefined,
        async (given) => void (mark = given),
      )
      expect(change.affected).toBe(3)
      expect(await target.rows("SELECT DISTINCT town FROM customer")).toEqual([["Wal"]])
      expect(await kind.outcome(place, mark)).toBe("unknown")
      await target.rows("PRAGMA journal_mode = DELETE")
      expect(readdirSync(join(root, user)).filter((file) => /-(wal|shm|journal)$/.test(file))).toEqual([])
    },
  )

  test.runIf(name === "sqlite")("is refused for too many rows, or a locked file", async () => {
    await target.rows(
      "CREATE TABLE many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 100001) SELECT i FROM n",
    )
    await expect(rehearse("DELETE FROM many")).rejects.toMatchObject({ code: "change_refused" })
    const file = (await target.rows("PRAGMA database_list"))[0]?.[2] as string
    const db = new DatabaseSync(file)
    db.exec("BEGIN IMMEDIATE")
    await expect(rehearse("UPDATE customer SET town = 'x'")).rejects.toMatchObject({ code: "query_failed" })
    db.close()
    expect((await rehearse("UPDATE customer SET town = 'x'")).affected).toBe(3)
  })
})
