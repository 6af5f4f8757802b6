import {
  codeOf,
  type DeviceFilters,
  readTable,
  type Row,
  type RowsByTable,
  type TableName,
  type Workspace,
} from "../../../core/pack.ts"

/** The related rows of up to this many rows are requested one by one; for more, the whole table is read once. */
const FEW = 8
/** More rows are not requested one by one. */
const MAX_ONE_BY_ONE = 500

/** Finds the rows that refer to a row on a device, one table at a time. */
export async function readRelatedRows(
  workspace: Pick<Workspace, "select">,
  table: TableName,
  id: string,
): Promise<RowsByTable> {
  const hanging = new Map<TableName, Row[]>()
  const under = [{ table, ids: [id] }]
  for (let level = under.shift(); level; level = under.shift()) {
    for (const { table: other, column, whenGone } of readTable(level.table).referredBy) {
      const rows = await namedBy(workspace, { table: other, column }, level.ids)
      if (rows.length === 0) continue
      hanging.set(other, [...(hanging.get(other) ?? []), ...rows])
      if (whenGone === "goes") under.push({ table: other, ids: rows.map((row) => String(row.id)) })
    }
  }
  return Object.fromEntries(hanging) as unknown as RowsByTable
}

/** The rows whose column contains one of these ids. */
async function namedBy(
  workspace: Pick<Workspace, "select">,
  { table, column }: { table: TableName; column: string },
  ids: readonly string[],
): Promise<Row[]> {
  const { equals, hides } = readTable(table)
  const all: DeviceFilters = hides ? { includeArchived: true } : {}
  const select = async (filters: DeviceFilters, wanted: ReadonlySet<unknown>) => {
    const rows = (await workspace.select(table, filters)) as unknown as Row[]
    return rows.filter((row) => wanted.has(row[column]))
  }
  // If the table has no filter for the column, all its rows are read.
  if (!equals.includes(column)) return select(all, new Set(ids))
  const oneByOne = async () => {
    const rows: Row[] = []
    for (const id of ids) rows.push(...(await select({ ...all, [column]: id }, new Set([id]))))
    return rows
  }
  if (ids.length <= FEW) return oneByOne()
  return select(all, new Set(ids)).catch((error: unknown) => {
    // The table may not fit into a frame of an older device, or contain a malformed row that is not related.
    if (codeOf(error) !== undefined || ids.length > MAX_ONE_BY_ONE) throw error
    return oneByOne()
  })
}
