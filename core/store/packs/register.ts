import type { PackTable } from "../../engine/pack-services.ts"
import { type CountedTable, recount } from "../engine/byte-counts.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { PersonalTable } from "../personal-tables.ts"

/**
 * The tables of packs with personal data, as the database records them, so that a server without the pack can export
 * and erase them, too.
 */
export async function readPackTables(engine: Engine): Promise<PersonalTable[]> {
  const sql = "SELECT name, person, exported FROM table_of_pack ORDER BY name"
  const rows = await engine.query<{ name: string; person: string; exported: string }>(sql, [])
  return rows.map(({ name, person, exported }) => {
    return { table: name, column: person, names: "person id", exported: JSON.parse(exported) as string[] }
  })
}

/** Statements that record the tables and their person columns, and fail if a column does not exist. */
export function registerTables(tables: readonly PackTable[]): Statement[] {
  return tables.flatMap((table): Statement[] => {
    if (!("person" in table)) return forgetTable(table.name)
    const { name, person, exported } = table
    const columns = [...new Set(["id", person, ...exported])].join(", ")
    const sql = `INSERT INTO table_of_pack (name, person, exported) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET person = excluded.person, exported = excluded.exported`
    return [
      { sql: `SELECT ${columns} FROM ${name} WHERE ${person} = '' AND id > '' LIMIT 1`, values: [] },
      { sql, values: [name, person, JSON.stringify(exported)] },
    ]
  })
}

const forgetTable = (table: string): Statement[] => [
  { sql: "DELETE FROM table_of_pack WHERE name = ?", values: [table] },
  { sql: "DELETE FROM storage_use WHERE source = ?", values: [table] },
]

const COUNTED_TABLES = "SELECT name, counted FROM table_of_pack"

/**
 * Counts the rows of these tables towards their people's storage. A migration of the pack may have replaced a table or
 * added columns, so triggers are updated if they differ.
 */
export async function countPackTables(engine: Engine, tables: readonly PackTable[]): Promise<void> {
  const rows = await engine.query<{ name: string; counted: string | null }>(COUNTED_TABLES, [])
  const known = new Map(rows.map(({ name, counted }) => [name, counted]))
  for (const table of tables) {
    if (!("person" in table)) continue
    const { name, person: column } = table
    const counted: CountedTable = {
      table: name,
      column,
      names: "person id",
      texts: await textsOf(engine, name),
      refuses: "growth",
    }
    const triggers = engine.byteCounts.triggers(counted)
    const now = triggers.join("\n")
    if (known.get(name) === now) continue
    // First, so that of two nodes that start at once the second one waits and finds it done.
    const sql = "UPDATE table_of_pack SET counted = ? WHERE name = ? AND counted IS DISTINCT FROM ?"
    const statements = [
      { sql, values: [now, name, now], mustChange: true },
      ...[...engine.byteCounts.dropTriggers(name), ...triggers, recount(counted, engine.byteCounts.adds)].map(
        (sql) => ({ sql, values: [] }),
      ),
    ]
    await engine.change({ type: "statements", statements, patience: "long" })
  }
}

/** Every column may hold a long text: SQLite does not enforce types, and PostgreSQL has many that can hold texts. */
async function textsOf({ name: engine, query }: Engine, table: string): Promise<string[]> {
  const sql =
    engine === "sqlite"
      ? `SELECT '"' || replace(name, '"', '""') || '"' AS name FROM pragma_table_info('${table}')`
      : `SELECT quote_ident(attname) || CASE WHEN atttypid = 'bytea'::regtype THEN '' ELSE '::text' END AS name
          FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`
  return (await query<{ name: string }>(sql, [])).map(({ name }) => name)
}
