import { codeOf, type TableName, workspaceTables } from "../../core/pack.ts"
import type { Desk, DeskRow } from "./tables/desk.ts"
import { nameColumn } from "./tables/find-row.ts"
import type { TableSpec } from "./tables/table.ts"

/** Up to this many rows are read one by one; for more, all rows are read once. */
const FEW = 3
/** If a table has more rows than this, names are not loaded, and ids are shown. */
const MAX_NAMED = 10_000

/** Loads the names of the rows that these rows refer to. A row without a name is shown by its id. */
export async function loadNames({ fields }: TableSpec, rows: readonly DeskRow[], desk: Desk): Promise<void> {
  for (const { column, kind, label } of fields) {
    if (!kind.refers || !label) continue
    const ids = new Set(rows.flatMap((row) => (row[column] == null ? [] : [String(row[column])])))
    const unknown = [...ids].filter((id) => !desk.names.has(id))
    if (unknown.length > 0) await learn(kind.refers, unknown, desk).catch(ignoreStrange)
  }
}

async function learn(table: TableName, ids: readonly string[], { workspace, names }: Desk): Promise<void> {
  const column = nameColumn(table)
  const all = workspaceTables[table].hides ? { includeArchived: true } : {}
  const found = (
    ids.length > FEW
      ? (await workspace.list(table, all, { columns: column ? [column] : [], most: MAX_NAMED })).rows
      : await Promise.all(ids.map((id) => workspace.get(table, id)))
  ) as readonly (DeskRow | undefined)[]
  for (const row of found) if (row && column) names.set(String(row.id), String(row[column]))
}

/** Ignores tables that a device does not know; their ids are shown instead of names. */
function ignoreStrange(error: unknown): void {
  if (codeOf(error) !== undefined) throw error
}
