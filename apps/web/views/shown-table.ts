import type { TableColumn } from "./data-table.tsx"

/** A table of a tool: all rows, or the first rows of a result that the server stores. */
export interface ShownTable {
  readonly columns: readonly TableColumn[]
  readonly rows: readonly (readonly unknown[])[]
  /** The number of rows, including those that are not loaded. */
  readonly rowCount: number
  /** Whether the database had more rows than were read. */
  readonly truncated: boolean
  /** Problems found in the columns. */
  readonly warnings: readonly string[]
  /** The time zone of its dates and times, if the database has one. */
  readonly timeZone: string | undefined
  readonly source: TableSource | undefined
}

/** The stored result and the query it came from. */
export interface TableSource {
  readonly connectionId: string
  readonly resultId: string
  readonly sql: string
}

const MAX_COLUMNS = 100
const MAX_WARNINGS = 20

export function toTable(data: Readonly<Record<string, unknown>>): ShownTable | undefined {
  const { columns, rows, rowCount, truncated, warnings, timeZone } = data
  if (!Array.isArray(columns) || !Array.isArray(rows)) return undefined
  const shown = columns.slice(0, MAX_COLUMNS).map(toColumn)
  return {
    columns: shown,
    rows: rows.map((row) => toCells(row, shown)),
    rowCount: Math.max(rows.length, typeof rowCount === "number" ? rowCount : 0),
    truncated: truncated === true || columns.length > MAX_COLUMNS,
    warnings: Array.isArray(warnings) ? warnings.filter((each) => typeof each === "string").slice(0, MAX_WARNINGS) : [],
    timeZone: typeof timeZone === "string" ? timeZone.slice(0, 64) : undefined,
    source: toSource(data),
  }
}

function toSource({ connectionId, resultId, sql }: Readonly<Record<string, unknown>>): TableSource | undefined {
  if (typeof connectionId !== "string" || typeof resultId !== "string" || typeof sql !== "string") return undefined
  return { connectionId, resultId, sql }
}

function toColumn(column: unknown): TableColumn {
  if (typeof column !== "object" || column === null || !("name" in column)) return { name: String(column), type: null }
  const type = "type" in column && typeof column.type === "string" ? column.type : null
  return { name: String(column.name), type }
}

function toCells(row: unknown, columns: readonly TableColumn[]): unknown[] {
  if (Array.isArray(row)) return row.slice(0, columns.length)
  const fields = (typeof row === "object" && row !== null ? row : {}) as Record<string, unknown>
  return columns.map(({ name }) => fields[name])
}
