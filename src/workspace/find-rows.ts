import type { TableName } from "../protocol/workspace-tables.ts"
import { hostZone } from "../protocol/time/host-zone.ts"
import { endOf, startOf, startsIn } from "./days.ts"
import { type Filters, type KnownTable, readTable, type Row, type Rows } from "./known-tables.ts"
import { type Condition, fromStored, inPortions, type Layout, selectRows } from "./layout.ts"
import { compareBy } from "./order-rows.ts"
import { readFilters, readId } from "./read-input.ts"
import { askTable, type Steps } from "./steps.ts"

/** The rows that filters ask for, in the order they ask for. */
export function* findRows(layout: Layout, name: string, given: unknown = {}): Steps<Row[]> {
  const table = readTable(name)
  const filters = readFilters(table, given)
  const rows = (yield* askFor(layout, table.name, conditionsOf(table, filters))).filter(isDue(table, filters))
  // Here and not in SQL: engines disagree about which letters are alike and about the order of words.
  const search = filters.search?.trim().toLowerCase()
  const found = search ? rows.filter((row) => mentions(row, table.searched, search)) : [...rows]
  if (!filters.orderBy) return found
  const holdsDays = Object.hasOwn(table.days ?? {}, filters.orderBy)
  return found.sort(compareBy(filters.orderBy, holdsDays ? startsIn(zoneOf(filters)) : undefined))
}

export function* findRow(layout: Layout, name: string, id: string): Steps<Row | undefined> {
  const [row] = yield* askFor(layout, readTable(name).name, [{ column: "id", is: "=", value: readId(id) }])
  return row
}

/** Those of the rows that are there. */
export function* findByIds(layout: Layout, name: TableName, ids: readonly string[]): Steps<Row[]> {
  return yield* findAmong(layout, name, "id", ids)
}

/**
 * What hangs on a row: what would go with it, however far down, and what keeps it from going. Of the latter only the first
 * level, because it stays and so does everything on it.
 */
export function* findHanging(layout: Layout, name: TableName, id: string): Steps<Rows> {
  const hanging = new Map<TableName, Row[]>()
  const under: { name: TableName; ids: string[] }[] = [{ name, ids: [id] }]
  for (let level = under.shift(); level; level = under.shift()) {
    for (const { table, column, whenGone } of readTable(level.name).referredBy) {
      const rows = yield* findAmong(layout, table, column, level.ids)
      if (rows.length === 0) continue
      hanging.set(table, [...(hanging.get(table) ?? []), ...rows])
      if (whenGone === "goes") under.push({ name: table, ids: rows.map((row) => String(row.id)) })
    }
  }
  return Object.fromEntries(hanging)
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

function conditionsOf(table: KnownTable, filters: Filters): Condition[] {
  const conditions: Condition[] = table.equals.map((column) => ({ column, is: "=", value: filters[column] }))
  const { due, hides } = table
  if (due) {
    const { from, to } = rangeOf(filters)
    // A day begins within two days of the moment that is kept for it, in every zone there ever was.
    if (from !== undefined) conditions.push({ column: due, is: ">=", value: Math.floor(from) - 2 * DAY_MS })
    if (to !== undefined) conditions.push({ column: due, is: "<=", value: Math.ceil(to) + 2 * DAY_MS })
  }
  if (hides && !filters.includeArchived && filters[hides.column] == null)
    conditions.push({ column: hides.column, is: "<>", value: hides.value })
  return conditions.filter(({ value }) => value !== undefined && value !== null)
}

const DAY_MS = 86_400_000

const zoneOf = ({ timeZone }: Filters): string => timeZone ?? hostZone()

/** What is asked for in moments: a day from its first to its last, where the filters say that it begins. */
function rangeOf(filters: Filters): { readonly from: number | undefined; readonly to: number | undefined } {
  const { dueDateFrom: from, dueDateTo: to } = filters
  return {
    from: from == null ? undefined : startOf(from, zoneOf(filters)),
    to: to == null ? undefined : endOf(to, zoneOf(filters)),
  }
}

/** Exactly, and here: for SQL a day is only about where it is. */
function isDue({ due }: KnownTable, filters: Filters): (row: Row) => boolean {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = rangeOf(filters)
  if (!due || (filters.dueDateFrom == null && filters.dueDateTo == null)) return () => true
  const start = startsIn(zoneOf(filters))
  return (row) => {
    const value = row[due] ?? null
    return value !== null && start(value) >= from && start(value) <= to
  }
}

function mentions(row: Row, columns: readonly string[], search: string): boolean {
  const text = columns.map((column) => row[column] ?? "").join("\n")
  return text.toLowerCase().includes(search)
}
