import type { Column } from "../../../core/protocol/databases/connections.ts"

/** The type of a column in a chart. */
export type ColumnKind = "number" | "time" | "text" | "boolean"

export interface ChartColumn {
  /** The name in the chart's rows: that of the result, unless Vega-Lite cannot express it. */
  readonly name: string
  readonly kind: ColumnKind
  /** The number of different values, up to MANY_VALUES. */
  readonly distinct: number
  readonly min?: number
  readonly max?: number
  readonly examples: readonly string[]
}

/** The data of a chart: rows are objects, and numbers are numbers. */
export interface ChartData {
  readonly columns: readonly ChartColumn[]
  readonly rows: readonly Readonly<Record<string, Cell>>[]
  /** The result had more rows than a chart may have. */
  readonly cut: boolean
}

export type Cell = string | number | boolean | null

/** Limits of the rows, because the journal stores them with the chart, and a browser draws them. */
export const MAX_CHART_ROWS = 2000
export const MAX_CHART_BYTES = 128 * 1024
const MAX_CELL = 200
export const MANY_VALUES = 10_000

export function toChartData(columns: readonly Column[], rows: readonly (readonly unknown[])[]): ChartData {
  const names = safeNames(columns)
  const cells = bounded(rows)
  const kinds = columns.map((_, at) => kindOf(cells.map((row) => row[at])))
  const days = kinds.map((kind, at) => kind === "time" && cells.every((row) => isDay(row[at])))
  const made = cells.map((row) =>
    Object.fromEntries(
      names.map((name, at) => [name, toCell(days[at] ? toDay(row[at]) : row[at], kinds[at] ?? "text")]),
    ),
  )
  return {
    columns: names.map((name, at) => describe(name, kinds[at] ?? "text", made)),
    rows: made,
    cut: cells.length < rows.length,
  }
}

/**
 * Renames columns whose names Vega-Lite would read as a path, such as `a.b` and `a[0]`, and columns with the same name:
 * a row would keep only the last of them.
 */
function safeNames(columns: readonly Column[]): string[] {
  const taken = new Set<string>()
  return columns.map(({ name }) => {
    const plain = name.replaceAll(/[.[\]\\'"\p{Cc}]/gu, "_").slice(0, 100) || "column"
    const safe = plain in Object.prototype || plain.startsWith("__") ? `column_${plain}` : plain
    let free = safe
    for (let number = 2; taken.has(free); number++) free = `${safe}_${number}`
    taken.add(free)
    return free
  })
}

function bounded(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  let bytes = 0
  const most = rows.slice(0, MAX_CHART_ROWS)
  const end = most.findIndex((row) => (bytes += JSON.stringify(row).length) > MAX_CHART_BYTES)
  return end < 0 ? most : most.slice(0, end)
}

/** Detected from the values, not the declared type: SQLite's types are unreliable, and decimals are sent as text. */
function kindOf(values: readonly unknown[]): ColumnKind {
  const given = values.filter((value) => value !== null && value !== undefined)
  if (given.length === 0) return "text"
  if (given.every((value) => typeof value === "boolean")) return "boolean"
  if (given.every((value) => toNumber(value) !== undefined)) return "number"
  return given.every((value) => typeof value === "string" && isTime(value)) ? "time" : "text"
}

/** A decimal, or an integer too large for a double; not a post code with a leading zero. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value
  return typeof value === "string" && value.length < 100 && NUMBER.test(value) ? Number(value) : undefined
}

const TIME = /^\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?)?)?$/

export const isTime = (value: string): boolean => TIME.test(value) && !Number.isNaN(Date.parse(toIso(value)))

/**
 * If all moments of a column are midnights, as `date_trunc` returns them, they are days of the database's time zone. As
 * moments, they would be the previous evening for readers further west.
 */
const DAY = /^\d{4}-\d{2}-\d{2}(?:[ T]00:00(?::00(?:\.0+)?)?(?: ?(?:Z|[+-]\d{2}(?::?\d{2})?))?)?$/
const isDay = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === "string" && DAY.test(value))
const toDay = (value: unknown): unknown => (typeof value === "string" ? value.slice(0, "2025-01-31".length) : value)

/** A format that all browsers parse equally: PostgreSQL writes a space for the T, and `+00` as an offset. */
const toIso = (value: string): string =>
  value
    .replace(" ", "T")
    .replace(" ", "")
    .replace(/([+-]\d{2})$/, (offset, _, at) => (at > 10 ? `${offset}:00` : offset))

function toCell(value: unknown, kind: ColumnKind): Cell {
  if (value === null || value === undefined) return null
  if (kind === "number") return toNumber(value) ?? null
  if (kind === "time" && typeof value === "string") return toIso(value)
  if (typeof value === "boolean") return value
  const text = typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value)
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text
}

function describe(name: string, kind: ColumnKind, rows: ChartData["rows"]): ChartColumn {
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined)
  const distinct = new Set(values)
  const numbers = kind === "number" ? (values as number[]) : []
  const range = numbers.length > 0 ? { min: least(numbers), max: -least(numbers.map((value) => -value)) } : {}
  const examples = [...distinct].slice(0, 3).map((value) => String(value).slice(0, 40))
  return { name, kind, distinct: Math.min(distinct.size, MANY_VALUES), ...range, examples }
}

const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b), Infinity)
