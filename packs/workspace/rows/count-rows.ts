import type { RowCounts } from "../../../core/protocol/workspace-file.ts"
import { tableNames } from "../../../core/protocol/workspace-tables.ts"
import type { Rows } from "./known-tables.ts"

export function countRows(rows: Rows): RowCounts {
  return Object.fromEntries(tableNames.map((name) => [name, rows[name]?.length ?? 0])) as RowCounts
}
