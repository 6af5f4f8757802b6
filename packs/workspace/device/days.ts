import {
  type DeviceFilters,
  endOf,
  readTable,
  type Row,
  type Rows,
  startOf,
  type TableName,
} from "../../../core/pack.ts"

/** For a device that knows no days. To it a day is what it was for years: the moment with which it begins where the person is. */

/** Columns of a table with moments in place of days. */
export function toMoments(name: TableName, columns: Row, timeZone: string): Row {
  const { days = {} } = readTable(name)
  const changed = Object.keys(days).flatMap((column) => {
    const value = columns[column]
    return typeof value === "string" ? [[column, startOf(value, timeZone)] as const] : []
  })
  return { ...columns, ...Object.fromEntries(changed) }
}

export function rowsToMoments(rows: Rows, timeZone: string): Rows {
  const entries = Object.entries(rows) as [TableName, readonly Row[]][]
  return Object.fromEntries(
    entries.map(([name, theirs]) => [name, theirs.map((row) => toMoments(name, row, timeZone))]),
  )
}

export function filtersToMoments(filters: DeviceFilters, fallback: string): DeviceFilters {
  const { timeZone, dueDateFrom: from, dueDateTo: to, ...others } = filters
  const zone = timeZone ?? fallback
  return {
    ...others,
    ...(from == null ? {} : { dueDateFrom: startOf(from, zone) }),
    ...(to == null ? {} : { dueDateTo: endOf(to, zone) }),
  }
}
