import type { DeviceFilters } from "../../../protocol/socket.ts"
import { isDistant, type Listing, type ListOptions, type Workspace } from "../../../protocol/ports/workspace.ts"
import type { TableName } from "../../../protocol/workspace-tables.ts"
import type { DeskRow } from "./desk.ts"

/** Rows for whoever shows them. A workspace of our own has none that are odd, and all of them at hand. */
export async function listRows(
  workspace: Workspace,
  table: TableName,
  filters: DeviceFilters,
  options: ListOptions = {},
): Promise<Listing> {
  if (isDistant(workspace)) return workspace.list(table, filters, options)
  const rows = (await workspace.select(table, filters)) as readonly DeskRow[]
  return { rows: rows.slice(0, options.most ?? rows.length), odd: [], total: rows.length }
}
