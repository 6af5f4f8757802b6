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
})
