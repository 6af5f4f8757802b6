import type { TableName } from "../protocol/workspace-tables.ts"
import { type KnownTable, readTable, type Row, type Rows } from "./known-tables.ts"
import { type Condition, inPortions, type Layout, selectRows } from "./layout.ts"
import { compareBy } from "./order-rows.ts"
import { readFilters, readId } from "./read-input.ts"
import { ask, type Steps } from "./steps.ts"

/** The rows that filters ask for, in the order they ask for. */
export function* findRows(layout: Layout, name: string, given: unknown = {}): Steps<Row[]> {
  const table = readTable(name)
  const filters = readFilters(table, given)
  const rows = yield* ask(selectRows(layout, table.name, conditionsOf(table, filters)))
  // Here and not in SQL: engines disagree about which letters are alike and about the order of words.
  const search = filters.search?.trim().toLowerCase()
  const found = search ? rows.filter((row) => mentions(row, table.searched, search)) : [...rows]
  return filters.orderBy ? found.sort(compareBy(filters.orderBy)) : found
}

export function* findRow(layout: Layout, name: string, id: string): Steps<Row | undefined> {
  const [row] = yield* ask(selectRows(layout, readTable(name).name, [{ column: "id", is: "=", value: readId(id) }]))
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
    found.push(...(yield* ask(selectRows(layout, name, [{ column, is: "in", value: some }]))))
  return found
}

function conditionsOf(table: KnownTable, filters: ReturnType<typeof readFilters>): Condition[] {
  const conditions: Condition[] = table.equals.map((column) => ({ column, is: "=", value: filters[column] }))
  const { due, hides } = table
  if (due) {
    conditions.push({ column: due, is: ">=", value: filters.dueDateFrom })
    conditions.push({ column: due, is: "<=", value: filters.dueDateTo })
  }
  if (hides && !filters.includeArchived && filters[hides.column] == null)
    conditions.push({ column: hides.column, is: "<>", value: hides.value })
  return conditions.filter(({ value }) => value !== undefined && value !== null)
}

function mentions(row: Row, columns: readonly string[], search: string): boolean {
  const text = columns.map((column) => row[column] ?? "").join("\n")
  return text.toLowerCase().includes(search)
}
