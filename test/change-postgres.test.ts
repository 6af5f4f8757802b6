import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type OpenChanges, openChanges } from "./change-kind.ts"
import { kinds } from "./change-targets.ts"

describe.runIf(kinds.includes("postgres" as never))("a change of a PostgreSQL database", () => {
  let changes: OpenChanges
  beforeAll(async () => {
    changes = await openChanges("postgres")
    for (const sql of [
      "CREATE TABLE stock (id INTEGER PRIMARY KEY, sku TEXT UNIQUE, n INTEGER)",
      "INSERT INTO stock VALUES (1, 'a', 1), (2, 'b', 2), (30, 'z', 30)",
      "CREATE TABLE loose (sku TEXT UNIQUE, n INTEGER)",
      "INSERT INTO loose VALUES ('a', 1), ('b', 2)",
      "CREATE TABLE made (id SERIAL PRIMARY KEY, name TEXT, kind TEXT DEFAULT 'x', at TIMESTAMPTZ DEFAULT now())",
    ])
      await changes.target.rows(sql)
  })
  afterAll(() => changes.close())

  test("that may overwrite says so, and shows what it overwrites first", async () => {
    const rows = Array.from({ length: 28 }, (_, index) => `(${index + 3}, 'new ${index}', 0)`).join(", ")
    const upsert = `INSERT INTO stock VALUES ${rows} ON CONFLICT (id) DO UPDATE SET n = excluded.n`
    const { affected, before, notes } = await changes.rehearse(upsert)
    expect([affected, before]).toEqual([28, [["30", "z", "30"]]])
    expect(notes.join(" ")).toContain("overwritten")
    // Also where all of them are new today: whoever agreed to adding has not agreed to overwriting.
    const fresh = "INSERT INTO stock VALUES (90, 'y', 0) ON CONFLICT (id) DO UPDATE SET n = excluded.n"
    expect((await changes.rehearse(fresh)).notes).toHaveLength(1)
    const loose = await changes.rehearse("INSERT INTO loose VALUES ('a', 9) ON CONFLICT (sku) DO UPDATE SET n = 9")
    expect([loose.before, loose.notes.length]).toEqual([null, 2])
    const kept = await changes.rehearse("INSERT INTO stock VALUES (1, 'a', 9), (91, 'w', 9) ON CONFLICT DO NOTHING")
    expect([kept.affected, kept.before, kept.notes]).toEqual([1, [], []])
    const rekeyed = "INSERT INTO stock VALUES (95, 'a', 9) ON CONFLICT (sku) DO UPDATE SET id = 96"
    await expect(changes.rehearse(rekeyed)).rejects.toMatchObject({ code: "change_refused" })
  })

  test.each([
    [
      "INSERT INTO stock SELECT 50, 'from ' || name, 1 FROM customer WHERE id = 3",
      "UPDATE customer SET name = 'Cleo' WHERE id = 3",
    ],
    ["INSERT INTO made (name) SELECT name FROM customer WHERE id = 3", "UPDATE customer SET name = 'Cyr' WHERE id = 3"],
    ["INSERT INTO made SELECT 70, name FROM customer WHERE id = 3", "UPDATE customer SET name = 'Cyd' WHERE id = 3"],
    [
      "INSERT INTO made SELECT 70, 'k', name FROM customer WHERE id = 3",
      "UPDATE customer SET name = 'Cyn' WHERE id = 3",
    ],
    ["UPDATE stock SET id = id + 100 WHERE id = 2", "UPDATE stock SET n = 77 WHERE id = 2"],
    ["UPDATE loose SET n = 5 WHERE sku < 'b'", "UPDATE loose SET sku = 'a2' WHERE sku = 'a'"],
  ])("is stale where it has become another: %s", async (sql, meanwhile) => {
    const { revision } = await changes.rehearse(sql)
    expect((await changes.rehearse(sql)).revision).toBe(revision)
    await changes.target.rows(meanwhile)
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
  })

  test("of a key does not show other rows as those that were there", async () => {
    const { before, after, notes } = await changes.rehearse("UPDATE stock SET id = 3 - id WHERE id = 30")
    expect([before, after?.length]).toEqual([null, 1])
    expect(notes).toEqual(["The key of rows changes, so they cannot be shown as they were."])
  })

  test("is not stale for numbers and times that the database gives", async () => {
    for (const sql of ["INSERT INTO made (name) VALUES ('n')", "INSERT INTO made DEFAULT VALUES"]) {
      const { revision } = await changes.rehearse(sql)
      await changes.apply(sql)
      expect((await changes.apply(sql, revision)).affected).toBe(1)
    }
  })

  test("waits for another one of the same rows, and is stale after it", async () => {
    const sql = "UPDATE customer SET town = 'Kiel' WHERE id = 2"
    const { revision } = await changes.rehearse(sql)
    await changes.target.rows("BEGIN")
    await changes.target.rows("UPDATE customer SET name = 'Bob' WHERE id = 2")
    const made = changes.apply(sql, revision)
    made.catch(() => {})
    const waiting =
      "SELECT count(*)::int FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
    await expect.poll(async () => (await changes.target.rows(waiting))[0]?.[0]).toBe(1)
    await changes.target.rows("COMMIT")
    await expect(made).rejects.toMatchObject({ code: "row_stale" })
    expect(await changes.target.rows("SELECT name, town FROM customer WHERE id = 2")).toEqual([["Bob", null]])
  })
})
