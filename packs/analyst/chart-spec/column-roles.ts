import type { ChartColumn } from "./chart-rows.ts"
import { isRecordId, isName, isPeriod } from "./is-name.ts"

/** The role of each column of a result in a chart. */
export interface ColumnRoles {
  /** The ordered column of the x-axis: dates, or years and months as numbers. */
  readonly along: ChartColumn | undefined
  /** The columns that are drawn, most important first. */
  readonly values: readonly ChartColumn[]
  /** The columns that group rows. */
  readonly groups: readonly ChartColumn[]
}

/**
 * Assigns roles to columns. Numbers that are names, such as years, ids and codes, are values only if there is nothing
 * else.
 */
export function rolesOf(columns: readonly ChartColumn[]): ColumnRoles {
  const numbers = columns.filter(({ kind }) => kind === "number")
  const measured = numbers.filter((column) => !isName(column))
  const period = numbers.find((column) => countsTime(column, columns) && measured.some((other) => other !== column))
  const plain = measured.length > 0 ? measured : numbers.filter((column) => !isPeriod(column) && !isRecordId(column))
  const values = plain.filter((column) => column !== period)
  const texts = columns.filter(({ kind, distinct }) => (kind === "text" || kind === "boolean") && distinct > 0)
  const names = numbers.filter((column) => isName(column) && !isRecordId(column) && column !== period)
  return {
    along: columns.find(({ kind }) => kind === "time") ?? period,
    values,
    groups: texts.length > 0 ? texts : names.filter((column) => !values.includes(column)),
  }
}

/** `hours` may be periods or amounts: as the first column they are the periods that the other columns are about. */
const countsTime = (column: ChartColumn, [first]: readonly ChartColumn[]): boolean =>
  isPeriod(column) || (column === first && /^(?:years|quarters|months|weeks|days|hours)$/i.test(column.name))
