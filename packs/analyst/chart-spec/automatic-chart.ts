import type { ChartColumn, ChartData } from "./chart-rows.ts"
import { rolesOf } from "./column-roles.ts"
import { defaultChart } from "./default-chart.ts"
import { isRecordId, isName } from "./is-name.ts"

const MAX_COLUMNS = 4
const MAX_CATEGORIES = 40
const MAX_SERIES = 10
const FEWEST_MOMENTS = 3

/**
 * Returns a chart for a result without a request for one, if its shape is easier to see than to read: one number for
 * each moment, or for each of a few names. Undefined for lists of records, single numbers and cut results.
 */
export function automaticChart(data: ChartData): { readonly [key: string]: unknown } | undefined {
  const { columns, rows } = data
  const numbers = columns.filter((column) => column.kind === "number")
  const texts = columns.filter(({ kind }) => kind === "text" || kind === "boolean")
  if (data.cut || columns.length > MAX_COLUMNS || !numbers.some((column) => !isName(column))) return undefined
  if (numbers.some(isRecordId)) return undefined
  const { along, groups } = rolesOf(columns)
  if (along)
    return along.distinct >= FEWEST_MOMENTS && isOneEach(rows, along, texts) ? defaultChart(data, "") : undefined
  const [names] = groups
  if (!names || rows.length < 2 || rows.length > MAX_CATEGORIES || names.distinct !== rows.length) return undefined
  return defaultChart(data, "")
}

/** The columns that an automatic chart shows: the values, and the column they are drawn along. */
export function chartedColumns({ encoding }: { readonly [key: string]: unknown }): { value: string; along: string } {
  const { x, y } = encoding as Readonly<Record<"x" | "y", { readonly field?: string; readonly type: string }>>
  const [value, along] = y.type === "quantitative" ? [y, x] : [x, y]
  return { value: String(value.field), along: String(along.field) }
}

/** True if each moment has one row, or one for each of a few series. */
function isOneEach(rows: ChartData["rows"], along: ChartColumn, [series, ...more]: readonly ChartColumn[]): boolean {
  if (!series) return along.distinct === rows.length
  if (more.length > 0 || series.distinct > MAX_SERIES) return false
  return new Set(rows.map((row) => JSON.stringify([row[along.name], row[series.name]]))).size === rows.length
}
