import { expect, describe, test } from "vitest"
import { openSqlite } from "../engine/open-sqlite.ts"
import { migrate } from "./migrate.ts"
import { migrations } from "./migrations.ts"

/** As databases have recorded them. Each new migration adds a line; no line ever changes. */
const recorded = ["001_schema", "002_root_runs", "003_root_run_usage"]

test("no recorded name changes, and the numbers have no gap and no duplicate", () => {
  expect(migrations.map(({ name }) => name)).toEqual(recorded)
  expect(recorded.map((name) => Number(name.slice(0, 3)))).toEqual(recorded.map((_, index) => index + 1))
})

const sqlite = openSqlite({ file: ":memory:", durability: "normal" })

describe("a migration after the first that does not need a newer version", () => {
  test("only adds", () => {
    for (const step of migrations.slice(1).filter(({ needs }) => needs === undefined)) {
      if ("index" in step) expect([step.name, step.index.unique]).toEqual([step.name, undefined])
      else expect([step.name, unfitIn(step.statements(sqlite.syntax))]).toEqual([step.name, []])
    }
  })

  test.each([
    ["ALTER TABLE node ADD COLUMN colour TEXT", true],
    ["ALTER TABLE node ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'", true],
    ["ALTER TABLE node ADD COLUMN colour TEXT NOT NULL", false],
    ["ALTER TABLE node ADD COLUMN colour TEXT UNIQUE", false],
    ["ALTER TABLE node DROP COLUMN beats", false],
    ["ALTER TABLE node RENAME TO machine", false],
    ["DROP TABLE node", false],
    // Queries work without an index, only slower; a unique index must stay.
    ["DROP INDEX proposal_lapsed", true],
    ["DROP INDEX event_place", false],
    ["DROP INDEX IF EXISTS event_place", false],
    ["UPDATE node SET beats = 0", false],
    // Writers would wait until the index is built: that is what an index step is for.
    ["CREATE INDEX event_at ON event (at)", false],
    // A node that does not know the new table could not delete its own rows.
    ["CREATE TABLE pet (person BIGINT NOT NULL REFERENCES person (key))", false],
    ["CREATE TABLE pet (person BIGINT NOT NULL REFERENCES person (key) ON DELETE CASCADE)", true],
  ])("may contain %s: %s", (sql, fits) => {
    expect(unfitIn([sql])).toEqual(fits ? [] : [sql])
  })

  test("may replace a view, but not drop it", () => {
    const replaced = "CREATE VIEW runs AS SELECT id FROM run"
    expect(unfitIn(["DROP VIEW runs", replaced])).toEqual([])
    expect(unfitIn(["CREATE OR REPLACE VIEW runs AS SELECT id FROM run"])).toEqual([])
    expect(unfitIn(["DROP VIEW runs"])).toEqual(["DROP VIEW runs"])
    expect(unfitIn(["DROP VIEW messages", replaced])).toEqual(["DROP VIEW messages"])
  })

  test("may index its own table", () => {
    expect(unfitIn(["CREATE TABLE pet (name TEXT)", "CREATE UNIQUE INDEX pet_name ON pet (name)"])).toEqual([])
  })
})

function uniqueIndexes(): Set<string | undefined> {
  const all = migrations.flatMap((step) => ("statements" in step ? step.statements(sqlite.syntax) : []))
  return new Set(all.map((sql) => /^CREATE UNIQUE INDEX (\w+)/.exec(sql)?.[1]))
}

/** Statements after which a node of the previous version would not work as before. */
function unfitIn(statements: readonly string[]): string[] {
  const own = new Set(statements.flatMap((sql) => /^CREATE (?:UNLOGGED )? *TABLE (\w+)/.exec(sql)?.[1] ?? []))
  const views = new Set(statements.flatMap((sql) => /^CREATE VIEW (\w+)/.exec(sql)?.[1] ?? []))
  const isOwn = (table: string | undefined) => table !== undefined && own.has(table)
  return statements.filter((sql) => {
    if (/^CREATE (UNLOGGED )? *TABLE /.test(sql))
      return /REFERENCES \w+ \(\w+\)(?! ON DELETE (CASCADE|SET NULL))/.test(sql)
    if (/^CREATE (UNIQUE )?INDEX /.test(sql)) {
      const table = / ON (\w+)/.exec(sql)?.[1]
      return !isOwn(table)
    }
    if (/^CREATE (OR REPLACE )?VIEW /.test(sql)) return false
    // Triggers that count bytes work for the nodes of all versions.
    if (/^(CREATE TRIGGER|DROP TRIGGER IF EXISTS|CREATE OR REPLACE FUNCTION) storage_/.test(sql)) return false
    if (sql.startsWith("INSERT INTO storage_use ")) return false
    const [, index] = /^DROP INDEX (?:IF EXISTS )?(\w+)$/.exec(sql) ?? []
    if (index !== undefined) return uniqueIndexes().has(index)
    if (sql.startsWith("DROP VIEW ")) return !views.has(sql.slice("DROP VIEW ".length))
    const [, table, what = ""] = /^ALTER TABLE (\w+) (.*)$/s.exec(sql) ?? []
    if (isOwn(table)) return false
    return (
      !/^ADD COLUMN \w+ [A-Z ]+$/.test(what.replace(/ NOT NULL DEFAULT .*$/, "")) ||
      /NOT NULL$|UNIQUE|REFERENCES/.test(what)
    )
  })
}

/** Columns that a client can fill with a long text. */
const LONG = new Set(
  "content description ai_summary before after arguments inverse answer result statement authors text bytes body agreed seen grams tool_calls".split(
    " ",
  ),
)

/** Tables with another layout, each with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  inbox: "holds the few messages that wait, and is written and deleted with each of them",
  event: "is read by its position, whole; its sizes are known without reading the columns between",
  message_key: "the body is a hash",
  kept_file: "the content is the id of its parts",
  kept_file_part: "the content is an id too, and the bytes are last",
}

test("on SQLite, a table with long texts has row ids, and no other column lies after such a text", async () => {
  const engine = openSqlite({ file: ":memory:", durability: "normal" })
  await migrate(engine)
  const tables = await engine.query<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'passage\\_%\\_%' ESCAPE '\\'",
    [],
  )
  const unfit: string[] = []
  for (const { name, sql } of tables) {
    const columns = await engine.query<{ name: string; type: string }>(
      `SELECT name, type FROM pragma_table_info('${name}') ORDER BY cid`,
      [],
    )
    const isLong = columns.map((column) => column.type !== "BIGINT" && LONG.has(column.name))
    const first = isLong.indexOf(true)
    if (first >= 0 && (sql.endsWith("WITHOUT ROWID") || isLong.slice(first).includes(false))) unfit.push(name)
  }
  await engine.close()
  expect(unfit.sort()).toEqual(Object.keys(exceptions).sort())
})
