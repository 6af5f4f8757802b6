import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type OpenChanges, openChanges } from "./change-kind.ts"

describe("a change of a SQLite file", () => {
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

  test("is told by its own table, not by those that foreign keys take with it", async () => {
    const sql = "DELETE FROM customer WHERE id = 1"
    const { verb, table, before, notes, revision } = await changes.rehearse(sql)
    expect([verb, table, before]).toEqual(["DELETE", "customer", [[1, "Ada", "London"]]])
    expect(notes.join(" ")).toContain("2 more row(s)")
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
  ])("that would take rows away unseen is refused: %s", async (sql) => {
    await expect(changes.rehearse(sql)).rejects.toMatchObject({ code: "change_refused" })
    expect(await changes.target.rows("SELECT count(*) FROM badge")).toEqual([[2]])
  })

  test("that replaces the rows it shows, or updates what is there, is made", async () => {
    const replaced = await changes.rehearse("INSERT OR REPLACE INTO badge VALUES (1, 'a', 'again'), (5, 'e', 'new')")
    expect([replaced.affected, replaced.before]).toEqual([2, [[1, "a", "first"]]])
    const upsert =
      "INSERT INTO badge VALUES (2, 'x', 'u'), (6, 'f', ''), (6, 'f', '') ON CONFLICT (id) DO UPDATE SET said = 'v'"
    expect((await changes.apply(upsert)).before).toEqual([[2, "b", "second"]])
    await changes.target.rows("DELETE FROM badge WHERE id = 6")
  })
})
