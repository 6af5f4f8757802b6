import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { printSqliteSchema } from "../../scripts/sqlite-schema.ts"
import type { Engine } from "../../src/store/engine/engine.ts"
import { openSqlite, sqliteWords } from "../../src/store/engine/open-sqlite.ts"
import { migrations } from "../../src/store/migrations/list.ts"
import { migrate, type MigrateOptions } from "../../src/store/migrations/migrate.ts"
import { sqliteSchema } from "../../src/store/migrations/sqlite-schema.ts"

const whole = sqliteSchema

it("is what the steps of the schema come to; otherwise run `npm run schema`", async () => {
  const printed = readFileSync(new URL("../../src/store/migrations/sqlite-schema.ts", import.meta.url), "utf8")
  expect(printed).toBe(await printSqliteSchema())
})

it("makes the same tables, indexes, triggers and rows as the steps do", async () => {
  expect(await everythingIn({ whole })).toEqual(await everythingIn({}))
})

it("is followed by the steps that are newer than it", async () => {
  // One that this version does not have: whatever is added later, the whole is older than it.
  const newer = { name: "999_newer", statements: () => ["CREATE TABLE newer (n BIGINT)"] }
  const engine = openSqlite({ file: ":memory:", durability: "normal" })
  const options = { known: [...migrations, newer], whole }
  expect(await migrate(engine, sqliteWords, options)).toEqual([...sqliteSchema.steps, newer.name])
  expect(await engine.query("SELECT count(*) AS n FROM newer", [])).toEqual([{ n: 0 }])
  await engine.close()
})

async function everythingIn(options: MigrateOptions): Promise<unknown> {
  const engine = openSqlite({ file: ":memory:", durability: "normal" })
  await migrate(engine, sqliteWords, options)
  const objects = await engine.query<{ name: string; type: string; sql: string | null }>(
    "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name",
    [],
  )
  const tables = objects.filter(({ type, sql }) => type === "table" && !sql?.startsWith("CREATE VIRTUAL"))
  const rows = await Promise.all(tables.map(async ({ name }) => [name, await rowsOf(engine, name)]))
  await engine.close()
  return [objects.map(({ sql, ...object }) => ({ ...object, sql: sql?.replace(/\s+/g, " ") })), rows]
}

const rowsOf = (engine: Engine, table: string) => engine.query(`SELECT * FROM ${table} ORDER BY 1`, [])
