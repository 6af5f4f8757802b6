import { failure } from "../protocol/errors.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { hostZone } from "../shared/time/zone.ts"
import { endOf, startOf, startsIn } from "./days.ts"
import { type Filters, type KnownTable, readTable, type Row, type Rows } from "./known-tables.ts"
import { type Condition, fromStored, inPortions, type Layout, selectRows, sumBytes } from "./layout.ts"
import { compareBy } from "./order-rows.ts"
import { readFilters, readId } from "./read-input.ts"
import { askTable, type Steps } from "./steps.ts"

/** The rows that filters ask for, in the order they ask for. */
export function* findRows(layout: Layout, name: string, given: unknown = {}): Steps<Row[]> {
  const table = readTable(name)
  const filters = readFilters(table, given)
  const rows = (yield* askFor(layout, table.name, conditionsOf(table, filters))).filter(isDue(table, filters))
  // Not in SQL, because engines disagree about equal letters and about the order of words.
  const search = filters.search?.trim().toLowerCase()
  const found = search ? rows.filter((row) => mentions(row, table.searched, search)) : [...rows]
  return filters.orderBy ? found.sort(orderOf(table, filters)) : found
}

export function orderOf(table: KnownTable, filters: Filters): (a: Row, b: Row) => number {
  const column = filters.orderBy ?? "createdAt"
  return compareBy(column, Object.hasOwn(table.days ?? {}, column) ? startsIn(zoneOf(filters)) : undefined)
}

export function* findRow(layout: Layout, name: string, id: string): Steps<Row | undefined> {
  const [row] = yield* askFor(layout, readTable(name).name, [{ column: "id", is: "=", value: readId(id) }])
  return row
}

/** Returns the rows that exist. */
export function* findByIds(layout: Layout, name: TableName, ids: readonly string[]): Steps<Row[]> {
  return yield* findAmong(layout, name, "id", ids)
}

/**
 * Returns the rows that refer to a row: those that would be deleted with it, at any depth, and those that prevent its
 * deletion. Of the latter only the first level, because they stay and so do the rows that refer to them.
 */
export function* findRelatedRows(layout: Layout, name: TableName, id: string): Steps<Rows> {
  const hanging = new Map<TableName, Row[]>()
  const under: { name: TableName; ids: string[] }[] = [{ name, ids: [id] }]
  let bytes = 0
  for (let level = under.shift(); level; level = under.shift()) {
    for (const { table, column, whenGone } of readTable(level.name).referredBy) {
      // They are shown, recorded and stored for an undo, so they are in memory several times.
      bytes += yield* bytesAmong(layout, { table, column }, level.ids)
      if (bytes > MAX_HANGING_BYTES) throw failure("bad_request", { problem: tooMuch(name, id) })
      const rows = yield* findAmong(layout, table, column, level.ids)
      if (rows.length === 0) continue
      hanging.set(table, [...(hanging.get(table) ?? []), ...rows])
      if (whenGone === "goes") under.push({ name: table, ids: rows.map((row) => String(row.id)) })
    }
  }
  return Object.fromEntries(hanging)
}

const MAX_HANGING_BYTES = 8 * 1024 * 1024
const tooMuch = (name: TableName, id: string) =>
  `More than ${MAX_HANGING_BYTES / 1024 / 1024} MB belong to the ${readTable(name).noun} ${id}, which is too much for one deletion that can be undone. Delete or move some of it first, such as its longest notes.`

function* bytesAmong(
  layout: Layout,
  { table, column }: { readonly table: TableName; readonly column: string },
  values: readonly string[],
): Steps<number> {
  let bytes = 0
  for (const some of inPortions(values)) {
    const [sum] = yield* askTable(sumBytes(layout, table, [{ column, is: "in", value: some }]))
    bytes += Number(sum?.bytes ?? 0)
  }
  return bytes
}

/** The rows whose column names this id. */
export function* findNaming(layout: Layout, name: TableName, column: string, id: string): Steps<Row[]> {
  return yield* findAmong(layout, name, column, [id])
}

function* findAmong(layout: Layout, name: TableName, column: string, values: readonly string[]): Steps<Row[]> {
  const found: Row[] = []
  for (const some of inPortions(values))
    found.push(...(yield* askFor(layout, name, [{ column, is: "in", value: some }])))
  return found
}

function* askFor(layout: Layout, name: TableName, conditions: readonly Condition[]): Steps<readonly Row[]> {
  const rows = yield* askTable(selectRows(layout, name, conditions))
  const table = readTable(name)
  return table.days ? rows.map((row) => fromStored(table, row)) : rows
}

export function conditionsOf(table: KnownTable, filters: Filters): Condition[] {
  const conditions: Condition[] = table.equals.map((column) => ({ column, is: "=", value: filters[column] }))
  const { due, hides } = table
  if (due) {
    const { from, to } = rangeOf(filters)
    // In every time zone, a day begins within two days of the moment stored for it.
    if (from !== undefined) conditions.push({ column: due, is: ">=", value: Math.floor(from) - 2 * DAY_MS })
    if (to !== undefined) conditions.push({ column: due, is: "<=", value: Math.ceil(to) + 2 * DAY_MS })
  }
  if (hides && !filters.includeArchived && filters[hides.column] == null)
    conditions.push({ column: hides.column, is: "<>", value: hides.value })
  return conditions.filter(({ value }) => value !== undefined && value !== null)
}

const DAY_MS = 86_400_000

const zoneOf = ({ timeZone }: Filters): string => timeZone ?? hostZone()

/** The requested range in moments. Days begin and end in the time zone of the filters. */
function rangeOf(filters: Filters): { readonly from: number | undefined; readonly to: number | undefined } {
  const { dueDateFrom: from, dueDateTo: to } = filters
  return {
    from: from == null ? undefined : startOf(from, zoneOf(filters)),
    to: to == null ? undefined : endOf(to, zoneOf(filters)),
  }
}

/** Compares exactly, because the SQL condition only compares days approximately. */
export function isDue({ due }: KnownTable, filters: Filters): (row: Row) => boolean {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = rangeOf(filters)
  if (!due || (filters.dueDateFrom == null && filters.dueDateTo == null)) return () => true
  const start = startsIn(zoneOf(filters))
  return (row) => {
    const value = row[due] ?? null
    return value !== null && start(value) >= from && start(value) <= to
  }
}

export function mentions(row: Row, columns: readonly string[], search: string): boolean {
  const text = columns.map((column) => row[column] ?? "").join("\n")
  return text.toLowerCase().includes(search)
}
