import type { Applied } from "../protocol/workspace.ts"
import type { SampleRemoval } from "../protocol/workspace-file.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { findByIds, findNaming } from "./find-rows.ts"
import { countRows, readTable, type Row, type Rows } from "./known-tables.ts"
import { deleteRows, type Layout } from "./layout.ts"
import type { StatementPlan } from "./plan-write.ts"
import type { Steps } from "./steps.ts"

interface Placed {
  readonly table: TableName
  readonly row: Row
}

/**
 * Plans the deletion of the sample's unchanged rows. A changed row stays, and so does every row that a remaining row
 * refers to, so that no work of the user is deleted and no row loses its project.
 */
export function* planSampleRemoval(
  layout: Layout,
  loaded: Rows,
): Steps<StatementPlan & { readonly removal: SampleRemoval }> {
  const going = new Map<string, Placed>()
  const left: SampleRemoval["left"] = []
  for (const [table, rows] of entriesOf(loaded)) {
    const there = new Map((yield* findByIds(layout, table, rows.map(idOf))).map((row) => [idOf(row), row]))
    for (const row of rows) {
      const now = there.get(idOf(row))
      if (!now) continue
      if (isSame(table, row, now)) going.set(keyOf(table, now), { table, row: now })
      else left.push({ table, id: idOf(row), because: "changed" })
    }
  }
  for (let more = true; more;) {
    more = false
    for (const [key, { table, row }] of going) {
      if (!(yield* isUsed(layout, { table, row }, going))) continue
      more = going.delete(key)
      left.push({ table, id: idOf(row), because: "in_use" })
    }
  }
  const removed = byTable([...going.values()])
  const statements = entriesOf(removed).flatMap(([table, rows]) => deleteRows(layout, table, rows.map(idOf)))
  const applied = { action: "delete", table: "tasks", before: null, after: null, with: removed } as unknown as Applied
  return { applied, statements, removal: { removed: countRows(removed), left } }
}

/** Whether a remaining row refers to it. */
function* isUsed(layout: Layout, { table, row }: Placed, going: ReadonlyMap<string, Placed>): Steps<boolean> {
  for (const { table: other, column } of readTable(table).referredBy) {
    const naming = yield* findNaming(layout, other, column, idOf(row))
    if (naming.some((hanging) => !going.has(keyOf(other, hanging)))) return true
  }
  return false
}

/** Ignores `updatedAt`: a row that was changed and changed back is unchanged. */
function isSame(table: TableName, loaded: Row, now: Row): boolean {
  const { columns } = readTable(table)
  return columns.every((column) => column === "updatedAt" || loaded[column] === now[column])
}

function byTable(placed: readonly Placed[]): Rows {
  const rows = new Map<TableName, Row[]>()
  for (const { table, row } of placed) rows.set(table, [...(rows.get(table) ?? []), row])
  return Object.fromEntries(rows)
}

const idOf = (row: Row): string => String(row.id)
const keyOf = (table: TableName, row: Row): string => `${table} ${row.id}`
const entriesOf = (rows: Rows) => Object.entries(rows) as [TableName, readonly Row[]][]
