import {
  type DeviceFilters,
  endOf,
  readTable,
  type Row,
  type Rows,
  startOf,
  type TableName,
} from "../../../core/pack.ts"

/** For devices without support for days: they store a day as the moment when it starts in the user's time zone. */

/** Replaces the days in a row's columns by moments. */
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
