import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { describe, expect, inject, test } from "vitest"
import { sqliteKind } from "../../packs/analyst/sqlite/kind.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import { stateOf } from "./hostile-statements.ts"

interface Collection {
  /** Statements that create each database. */
  readonly databases: Readonly<Record<string, readonly string[]>>
  readonly questions: readonly { readonly db: string; readonly sql: string }[]
}

const outside = new URL("../../../shared/outside/", import.meta.url)
const there = existsSync(outside)
const user = "user_ada" as UserId
const { signal } = new AbortController()

/** Skipped if the folder of external material is missing. */
describe.runIf(there)("queries of public collections", { timeout: 180_000 }, () => {
  const makeRoot = () => {
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "outside-"))
    mkdirSync(join(root, "shared"))
    return root
  }

  test("all 1,034 of the text-to-SQL collection run, and return the same as SQLite alone", async () => {
    const file = new URL("text-to-sql.json.gz", outside)
    const { databases, questions } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Collection
    const root = makeRoot()
    const open = new Map<string, DatabaseSync>()
    for (const [name, statements] of Object.entries(databases)) {
      const db = new DatabaseSync(join(root, "shared", `${name}.db`), { enableDoubleQuotedStringLiterals: true })
      for (const sql of statements) db.exec(sql)
      fill(db)
      open.set(name, db)
    }
    const before = stateOf(root)
    const kind = sqliteKind({ root })
    let rows = 0
    for (const { db, sql } of questions) {
      const target = { kind: "sqlite", path: `shared/${db}.db` } as const
      const answer = await kind.query({ target, user, signal }, sql)
      const expected = open.get(db)?.prepare(sql)
      expect(answer.columns.map(({ name }) => name)).toEqual(expected?.columns().map(({ name }) => name))
      expect(answer.rows.length, sql).toBe(expected?.all().length)
      rows += answer.rows.length
    }
    await kind.close()
    expect(questions).toHaveLength(1034)
    expect(rows).toBeGreaterThan(1000)
    expect(stateOf(root)).toBe(before)
  })

  test("a real database is queried and described", async () => {
    const root = makeRoot()
    copyFileSync(fileURLToPath(new URL("chinook.sqlite", outside)), join(root, "shared", "chinook.sqlite"))
    const before = stateOf(root)
    const kind = sqliteKind({ root })
    const place = { target: { kind: "sqlite", path: "shared/chinook.sqlite" } as const, user, signal }
    const ask = async (sql: string) => (await kind.query(place, sql)).rows
    expect(await ask("SELECT count(*) FROM Track")).toEqual([[3503]])
    expect(
      await ask(
        `SELECT g.Name, count(*) AS n FROM Track t JOIN Genre g USING (GenreId) GROUP BY 1 ORDER BY n DESC LIMIT 2`,
      ),
    ).toEqual([
      ["Rock", 1297],
      ["Latin", 579],
    ])
    expect(
      await ask(`SELECT BillingCountry, round(sum(Total), 2) FROM Invoice GROUP BY 1 ORDER BY 2 DESC LIMIT 1`),
    ).toEqual([["USA", 523.06]])
    expect(
      await ask("SELECT strftime('%Y', InvoiceDate) AS y, count(*) FROM Invoice GROUP BY y ORDER BY y LIMIT 1"),
    ).toHaveLength(1)
    const schema = await kind.introspect(place)
    const track = schema.tables.find(({ name }) => name === "Track")
    expect(track).toMatchObject({ rows: 3503, primaryKey: ["TrackId"] })
    expect(track?.foreignKeys.map(({ table }) => table).sort()).toEqual(["Album", "Genre", "MediaType"])
    await kind.close()
    expect(stateOf(root)).toBe(before)
  })
})

/** A few rows in each table: an empty table answers every query alike. */
function fill(db: DatabaseSync): void {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").all()
  db.exec("PRAGMA foreign_keys = OFF")
  for (const { name } of tables as { name: string }[]) {
    const columns = db.prepare(`SELECT name, type FROM pragma_table_info('${name}')`).all() as { type: string }[]
    const values = columns.map(({ type }) => (/char|text/i.test(type) ? "'v' || n" : "n"))
    db.exec(`WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5)
      INSERT OR IGNORE INTO "${name}" SELECT ${values.join(", ")} FROM c`)
  }
}
