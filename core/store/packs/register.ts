import type { PackTable } from "../../engine/pack-services.ts"
import { type CountedTable, recount } from "../engine/byte-counts.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { PersonalTable } from "../personal-tables.ts"

/**
 * Which tables of packs hold something of people, as the database itself knows it: what a pack has written is exported and
 * erased also by a server that no longer has the pack, or never had.
 */
export async function readPackTables(engine: Engine): Promise<PersonalTable[]> {
  const sql = "SELECT name, person, exported FROM table_of_pack ORDER BY name"
  const rows = await engine.query<{ name: string; person: string; exported: string }>(sql, [])
  return rows.map(({ name, person, exported }) => {
    return { table: name, column: person, names: "person id", exported: JSON.parse(exported) as string[] }
  })
}

/** The statements that write down whose rows are in these tables, and fail where a column is not there. */
export function toRegister(tables: readonly PackTable[]): Statement[] {
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

const COUNTED = "SELECT name, counted FROM table_of_pack"

/**
 * Makes the rows of these tables count towards the storage of their people, as they are by now: a step of the pack may have
 * made a table anew or added columns. A table whose triggers are right is left alone.
 */
export async function countPackTables(engine: Engine, tables: readonly PackTable[]): Promise<void> {
  const rows = await engine.query<{ name: string; counted: string | null }>(COUNTED, [])
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
    // First, so that of two nodes that start at once the second waits and finds it done.
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

/** Any column may hold something long: SQLite keeps to no type, and PostgreSQL has many with which texts can be stored. */
async function textsOf({ name: engine, query }: Engine, table: string): Promise<string[]> {
  const sql =
    engine === "sqlite"
      ? `SELECT '"' || replace(name, '"', '""') || '"' AS name FROM pragma_table_info('${table}')`
      : `SELECT quote_ident(attname) || CASE WHEN atttypid = 'bytea'::regtype THEN '' ELSE '::text' END AS name
          FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`
  return (await query<{ name: string }>(sql, [])).map(({ name }) => name)
}
