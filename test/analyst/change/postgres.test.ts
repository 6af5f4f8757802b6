import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { shownValue } from "../../../packs/analyst/postgres/shown-value.ts"
import { type OpenChanges, openChanges } from "../change-kind.ts"
import { kinds } from "../change-targets.ts"

describe.runIf(kinds.includes("postgres" as never))("a change of a PostgreSQL database", () => {
  let changes: OpenChanges
  beforeAll(async () => {
    changes = await openChanges("postgres")
    for (const sql of [
      "CREATE TABLE stock (id INTEGER PRIMARY KEY, sku TEXT UNIQUE, n INTEGER)",
      "INSERT INTO stock VALUES (1, 'a', 1), (2, 'b', 2), (30, 'z', 30)",
      "CREATE TABLE loose (sku TEXT UNIQUE, n INTEGER)",
      "INSERT INTO loose VALUES ('a', 1), ('b', 2)",
      "CREATE TABLE pair (id INTEGER PRIMARY KEY, from_id INTEGER, said TEXT)",
      "CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT)",
      "INSERT INTO pair VALUES (1, 1, ''), (2, 2, '')",
      "INSERT INTO source VALUES (1, 'one'), (2, 'two')",
      "CREATE TABLE bag (n INTEGER, said TEXT)",
      "INSERT INTO bag VALUES (1, 'x'), (1, 'x'), (1, 'x'), (2, 'y')",
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
    // Also if all rows are new today: approval of an insert does not cover overwriting.
    const fresh = "INSERT INTO stock VALUES (90, 'y', 0) ON CONFLICT (id) DO UPDATE SET n = excluded.n"
    expect((await changes.rehearse(fresh)).notes).toHaveLength(1)
    const loose = await changes.rehearse("INSERT INTO loose VALUES ('a', 9) ON CONFLICT (sku) DO UPDATE SET n = 9")
    expect([loose.before, loose.notes.length]).toEqual([[["a", "1"]], 2])
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
    // The new rows are the same, the old ones are not.
    ["UPDATE loose SET n = 6 WHERE sku = 'b'", "UPDATE loose SET n = 1000 WHERE sku = 'b'"],
    ["UPDATE stock SET id = 200, n = 0 WHERE sku = 'z'", "UPDATE stock SET n = 31 WHERE sku = 'z'"],
    [
      "INSERT INTO loose VALUES ('b', 0) ON CONFLICT (sku) DO UPDATE SET n = 0",
      "UPDATE loose SET n = 3 WHERE sku = 'b'",
    ],
    // All old and all new values are the same, but two rows have swapped places.
    [
      "UPDATE pair SET said = new.said FROM (SELECT p.id, q.name AS said FROM pair p JOIN source q ON q.id = p.from_id) new WHERE new.id = pair.id",
      "UPDATE source SET name = CASE id WHEN 1 THEN 'two' ELSE 'one' END",
    ],
    // One column is generated when the change is applied; the others are compared nevertheless.
    [
      "INSERT INTO made VALUES (DEFAULT, (SELECT name FROM source WHERE id = 1), DEFAULT, now())",
      "UPDATE source SET name = 'three' WHERE id = 1",
    ],
  ])("is stale if its values have changed: %s", async (sql, meanwhile) => {
    const { revision } = await changes.rehearse(sql)
    expect((await changes.rehearse(sql)).revision).toBe(revision)
    await changes.target.rows(meanwhile)
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
  })

  test("of a key shows only the rows that were there", async () => {
    const { before, after, notes } = await changes.rehearse("UPDATE stock SET id = 51 - id WHERE id = 1")
    expect([before, after]).toEqual([[["1", "a", "1"]], [["50", "a", "1"]]])
    expect(notes).toEqual(["The key of rows changes, so old and new rows are listed each by themselves."])
  })

  test("of a table without a primary key identifies a row by a unique column that is never null", async () => {
    for (const sql of [
      "CREATE TABLE product (said TEXT, sku TEXT NOT NULL, UNIQUE (sku) INCLUDE (said))",
      "INSERT INTO product VALUES ('x', 'b'), ('y', 'a')",
      "CREATE TABLE part (sku TEXT UNIQUE, n INTEGER) PARTITION BY HASH (sku)",
      "CREATE TABLE part_all PARTITION OF part FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
      "INSERT INTO part VALUES ('a', 1)",
    ])
      await changes.target.rows(sql)
    const { before, after, notes } = await changes.rehearse("UPDATE product SET said = sku")
    expect([before?.map(([said]) => said), after?.map(([said]) => said), notes]).toEqual([["y", "x"], ["a", "b"], []])
    const upsert = "INSERT INTO part VALUES ('a', 2) ON CONFLICT (sku) DO UPDATE SET n = excluded.n"
    await expect(changes.rehearse(upsert)).rejects.toMatchObject({ code: "change_refused" })
    await changes.target.rows("ALTER TABLE part ALTER sku SET NOT NULL")
    expect((await changes.rehearse(upsert)).before).toEqual([["a", "1"]])
  })

  test("of a table without a key counts equal rows", async () => {
    const sql = "UPDATE bag SET n = 9 WHERE n = 1"
    const { before, revision } = await changes.rehearse(sql)
    expect(before).toEqual(Array(3).fill(["1", "x"]))
    await changes.target.rows("DELETE FROM bag WHERE ctid = (SELECT min(ctid) FROM bag)")
    await changes.target.rows("INSERT INTO bag VALUES (1, 'x2')")
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
    expect((await changes.apply(sql)).affected).toBe(3)
    expect(await changes.target.rows("SELECT n, said FROM bag ORDER BY said, n")).toEqual([
      [9, "x"],
      [9, "x"],
      [9, "x2"],
      [2, "y"],
    ])
  })

  test("of rows that another transaction has locked says so, and is applied afterwards", async () => {
    const sql = "UPDATE bag SET n = n + 1 WHERE said = 'y'"
    await changes.target.rows("BEGIN")
    // It need not wait for this one, but the row is of two transactions now.
    await changes.target.rows("SELECT 1 FROM bag WHERE said = 'y' FOR KEY SHARE")
    await expect(changes.rehearse(sql)).rejects.toMatchObject({ code: "change_refused" })
    await changes.target.rows("COMMIT")
    expect((await changes.apply(sql)).before).toEqual([["2", "y"]])
  })

  test("is not stale if the database generates numbers and times", async () => {
    await changes.target.rows(
      `CREATE TABLE numbered (id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name TEXT,
        key UUID DEFAULT gen_random_uuid(), twice INTEGER GENERATED ALWAYS AS (id * 2) STORED)`,
    )
    for (const [sql, made] of [
      ["INSERT INTO made (name) VALUES ('n')", ["id", "at"]],
      ["INSERT INTO made DEFAULT VALUES", ["id", "at"]],
      ["INSERT INTO made VALUES (DEFAULT, 'n', 'k', DEFAULT), (DEFAULT, 'm', DEFAULT, '2026-01-01')", ["id", "at"]],
      ["INSERT INTO made (name, at) VALUES ('n', CURRENT_TIMESTAMP), ('m', now() - interval '1 day')", ["id", "at"]],
      ["INSERT INTO made (name, kind) SELECT name, 'k' FROM source", ["id", "at"]],
      ["INSERT INTO numbered VALUES (DEFAULT, 'n')", ["id", "key", "twice"]],
      ["INSERT INTO numbered (name, key) VALUES ('n', gen_random_uuid())", ["id", "key", "twice"]],
      ["INSERT INTO numbered OVERRIDING USER VALUE VALUES (7, 'n')", ["id", "key", "twice"]],
      [
        "INSERT INTO numbered (name) VALUES ('n') ON CONFLICT (id) DO UPDATE SET name = excluded.name",
        ["id", "key", "twice"],
      ],
      ["UPDATE made SET at = now(), kind = 'z' WHERE id = (SELECT min(id) FROM made)", ["at"]],
      ["INSERT INTO made (name) VALUES ('now, random() or today')", ["id", "at"]],
      [
        "INSERT INTO made SELECT * FROM made WHERE id = (SELECT min(id) FROM made) ON CONFLICT (id) DO UPDATE SET name = excluded.name",
        [],
      ],
      ["UPDATE made SET at = DEFAULT WHERE id = (SELECT min(id) FROM made)", ["at"]],
    ] as const) {
      const { revision, made: told } = await changes.rehearse(sql)
      expect(told, sql).toEqual(made)
      if (sql.startsWith("UPDATE")) {
        expect((await changes.apply(sql, revision)).affected).toBe(1)
        continue
      }
      await changes.apply(sql)
      expect((await changes.apply(sql, revision)).affected).toBeGreaterThan(0)
    }
  })

  test("reads a long text a few times to show an excerpt of it, and not once for each excerpt", async () => {
    const { rows } = changes.target
    await rows("CREATE SEQUENCE times_read")
    await rows(`CREATE FUNCTION being_read(said TEXT) RETURNS TEXT STABLE LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('times_read'); RETURN said; END $$`)
    const shown = shownValue("being_read(o.was)", "being_read(o.becomes)")
    const texts = "SELECT repeat('a', 30000) || 'X' AS was, repeat('a', 10000) AS becomes"
    expect(await rows(`SELECT ${shown} FROM (${texts} OFFSET 0) o`)).toEqual([[`…${"a".repeat(200)}…`]])
    expect(Number((await rows("SELECT last_value FROM times_read"))[0]?.[0])).toBeLessThan(10)
  })

  test("waits for another change of the same rows, and is stale after it", async () => {
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
