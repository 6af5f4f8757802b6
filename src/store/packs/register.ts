import type { PackTable } from "../../protocol/ports/pack-tables.ts"
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
    if (!("person" in table)) return [forgetTable(table.name)]
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

export const forgetTable = (table: string): Statement => ({
  sql: "DELETE FROM table_of_pack WHERE name = ?",
  values: [table],
})
