import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"
import { boundColumns, type ColumnFacts } from "./bound-columns.ts"
import { SqliteWrites } from "./writes.ts"

const db = new DatabaseSync(":memory:")
db.exec(`CREATE TABLE badge (id INTEGER PRIMARY KEY, code TEXT UNIQUE, said TEXT);
  CREATE TABLE line (id INTEGER PRIMARY KEY, said TEXT, at TEXT DEFAULT (random()));
  CREATE TABLE plain (id TEXT PRIMARY KEY, said TEXT DEFAULT 'x (y)', n INTEGER DEFAULT (1 + 2))`)

const fates = (sql: string) => {
  const writes = new SqliteWrites()
  db.setAuthorizer(writes.authorize)
  db.prepare(sql)
  db.setAuthorizer(null)
  const columns = db
    .prepare("SELECT name, type, pk, dflt_value, hidden FROM pragma_table_xinfo(?)")
    .all(writes.table ?? "") as unknown as ColumnFacts[]
  const { bound, made } = boundColumns(sql, { columns, triggers: [] }, writes)
  return { bound: bound.map((index) => columns[index]?.name).join(" "), made: made.join(" ") }
}

const LATE = "WHERE id = 1 AND date('now') > '2000'"

describe("of the values that a statement writes to a SQLite table", () => {
  test.each([
    // The time decides which rows there are, not what is in them.
    [`INSERT INTO badge SELECT id, code, said FROM badge ${LATE}`, "id code said"],
    [`INSERT INTO badge (code, id) SELECT code, id FROM (SELECT * FROM badge ${LATE})`, "id code said"],
    [`WITH b AS (SELECT * FROM badge ${LATE}) INSERT INTO badge SELECT 1, said, code FROM b`, "id code said"],
    ["INSERT INTO badge SELECT * FROM badge WHERE random() IS NOT NULL", "id code said"],
    [`INSERT INTO badge SELECT * FROM badge ${LATE} UNION SELECT 1, 'b', date('now', 'utc')`, "id code"],
    [`INSERT INTO badge VALUES (1, 'c', (SELECT said FROM badge ${LATE}))`, "id code said"],
    [`UPDATE badge SET said = s FROM (SELECT b.said AS s FROM badge b ${LATE}) WHERE id = 2`, "said"],
    ["UPDATE badge SET said = CASE WHEN date('now') > '2000' THEN code END", "said"],
    [`UPDATE badge SET (code, said) = (datetime('now'), (SELECT said FROM badge ${LATE}))`, "said"],
    [
      `INSERT INTO badge SELECT * FROM badge ${LATE} ON CONFLICT (id) DO UPDATE SET said = excluded.said`,
      "id code said",
    ],
    // A NULL in another position does not generate a number, nor do keywords inside a string.
    ["INSERT INTO badge SELECT id, 'x', NULL FROM badge WHERE said IS NOT NULL", "id code said"],
    ["INSERT INTO badge SELECT DISTINCT id, 'default values', 'y' FROM badge WHERE NULL IS NULL", "id code said"],
    ["INSERT INTO badge SELECT * FROM (SELECT id, 'x', NULL FROM badge)", "id code said"],
  ])("stated values are compared: %s", (sql, bound) => {
    expect(fates(sql).bound).toBe(bound)
  })

  test("a constant default is compared, also if it contains keywords", () => {
    expect(fates("INSERT INTO plain (id) VALUES ('a')")).toEqual({ bound: "id said n", made: "" })
  })

  test.each([
    ["INSERT INTO line SELECT NULL, 'a', 'b' UNION ALL SELECT NULL, 'c', random()", "id at"],
    ["INSERT INTO line SELECT NULL, * FROM (SELECT 'a', 'b')", "id"],
    ["INSERT INTO line SELECT DISTINCT 1, 'a', random()", "at"],
    ["INSERT INTO line DEFAULT VALUES", "id at"],
    ["INSERT INTO line VALUES (1, 'u', random()) ON CONFLICT (id) DO UPDATE SET said = excluded.at", "said at"],
    [
      `INSERT INTO line (id, at) VALUES (1, random()) ON CONFLICT (id) DO UPDATE SET said = 'x' || excluded . "AT"`,
      "said at",
    ],
    // It may be a new row, too.
    ["INSERT INTO line VALUES (1, 'u', random()) ON CONFLICT (id) DO UPDATE SET at = '2020'", "at"],
    ["INSERT INTO line VALUES (1, 'u', '2020') ON CONFLICT (id) DO UPDATE SET at = random()", "at"],
    ["UPDATE line SET at = CASE WHEN said > 'a' THEN datetime('now') ELSE at END", "at"],
  ])("values that differ at each run are not: %s", (sql, made) => {
    expect(fates(sql).made).toBe(made)
  })
})
