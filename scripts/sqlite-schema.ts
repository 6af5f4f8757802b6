import { openSqlite, sqliteWords } from "../src/store/engine/open-sqlite.ts"
import { migrations } from "../src/store/migrations/list.ts"
import { migrate } from "../src/store/migrations/migrate.ts"

/** `src/store/migrations/sqlite-schema.ts`, as the steps of the schema have it. */
export async function printSqliteSchema(): Promise<string> {
  const engine = openSqlite({ file: ":memory:", durability: "normal" })
  await migrate(engine, sqliteWords)
  const rows = await engine.query<{ sql: string }>(OBJECTS, [])
  await engine.close()
  const lines = rows.map(({ sql }) => `    ${quoted(sql.replace(/\s+/g, " "))},\n`).join("")
  const steps = migrations.map(({ name }) => `    ${quoted(name)},\n`).join("")
  return `${HEAD}  steps: [\n${steps}  ],\n  statements: [\n${lines}  ],\n}\n`
}

/** In the order in which they were made. What a virtual table keeps its words in is made with it. */
const OBJECTS = `SELECT sql FROM sqlite_master AS object WHERE sql IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM sqlite_master AS virtual WHERE virtual.sql LIKE 'CREATE VIRTUAL%' AND object.type = 'table'
    AND object.name LIKE virtual.name || '\\_%' ESCAPE '\\') ORDER BY rowid`

const HEAD = `import type { WholeSchema } from "./migrate.ts"

/** Printed by \`npm run schema\`: what all steps together make of an empty SQLite database. Not to be changed by hand. */
export const sqliteSchema: WholeSchema = {
`

/** As the formatter has it: in other quotes where those would have to be marked. */
const quoted = (text: string): string =>
  text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text)
