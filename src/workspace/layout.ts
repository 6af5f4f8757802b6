import type { UserId } from "../protocol/ids.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { noonOf } from "./days.ts"
import { type KnownTable, readTable, type Row } from "./known-tables.ts"

/** How a database names the six tables. Names come from the specification and never from a caller. */
export interface Layout {
  table(name: TableName): string
  column(name: string): string
  /** What tells rows of the same millisecond apart, as SQL. */
  readonly tie: string
  /** Whose rows are meant, where the tables hold several people's: every read and write is limited to them. */
  readonly owner?: { readonly column: string; readonly value: UserId }
}

export interface TableQuery {
  readonly sql: string
  readonly values: readonly unknown[]
}
/** A change; one that must change rows and changes none undoes the whole that it is part of. */
export interface WorkspaceStatement extends TableQuery {
  readonly mustChange?: boolean
}

/** `sql` compares a column: `=`, `<>`, `>=`, `<=`; or it is one of several values. */
export interface Condition {
  readonly column: string
  readonly is: "=" | "<>" | ">=" | "<=" | "in"
  readonly value: unknown
}

/** Values in one SQL list at most; longer lists are asked for in several statements. */
export const MAX_VALUES = 512

/** Rows in the order they were made, with the column names of the specification. */
export function selectRows(layout: Layout, name: TableName, conditions: readonly Condition[]): TableQuery {
  const columns = storedColumns(readTable(name)).map((column) => `${layout.column(column)} AS "${column}"`)
  const { sql, values } = where(layout, conditions)
  const order = `${layout.column("createdAt")}, ${layout.tie}`
  return { sql: `SELECT ${columns.join(", ")} FROM ${layout.table(name)} WHERE ${sql} ORDER BY ${order}`, values }
}

/** Nothing where there is a row of this id already, whoever's it is. */
export function insertRow(layout: Layout, name: TableName, row: Row): WorkspaceStatement {
  const columns = storedColumns(readTable(name))
  const stored = toStored(readTable(name), row)
  const { owner } = layout
  const names = [...(owner ? [owner.column] : []), ...columns.map((column) => layout.column(column))]
  const values = [...(owner ? [owner.value] : []), ...columns.map((column) => stored[column] ?? null)]
  const sql = `INSERT INTO ${layout.table(name)} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
    ON CONFLICT (${layout.column("id")}) DO NOTHING`
  return { sql, values, mustChange: true }
}

/** All columns each time: one statement for a table, and not one for every choice of columns. */
export function updateRow(layout: Layout, name: TableName, row: Row): WorkspaceStatement {
  const columns = storedColumns(readTable(name)).filter((column) => column !== "id")
  const stored = toStored(readTable(name), row)
  const set = columns.map((column) => `${layout.column(column)} = ?`).join(", ")
  const { sql, values } = where(layout, [{ column: "id", is: "=", value: row.id }])
  return {
    sql: `UPDATE ${layout.table(name)} SET ${set} WHERE ${sql}`,
    values: [...columns.map((column) => stored[column] ?? null), ...values],
    mustChange: true,
  }
}

export function deleteRows(layout: Layout, name: TableName, ids: readonly string[]): WorkspaceStatement[] {
  return inPortions(ids).map((some) => {
    const { sql, values } = where(layout, [{ column: "id", is: "in", value: some }])
    return { sql: `DELETE FROM ${layout.table(name)} WHERE ${sql}`, values, mustChange: true }
  })
}

/** The columns of a row, and those that keep its days. */
export const storedColumns = ({ columns, days = {} }: KnownTable): string[] => [...columns, ...Object.values(days)]

/** A day stands in a column of its own; the moment beside it is for programs that know only moments. */
function toStored({ days = {} }: KnownTable, row: Row): Row {
  const apart = Object.entries(days).map(([column, kept]) => {
    const value = row[column]
    return typeof value === "string" ? { [column]: noonOf(value), [kept]: value } : { [kept]: null }
  })
  return Object.assign({ ...row }, ...apart) as Row
}

/** A row as it was stored. The day counts while its moment stands beside it: who has changed that one knew of no day. */
export function fromStored({ days = {} }: KnownTable, stored: Row): Row {
  const row = { ...stored }
  for (const [column, kept] of Object.entries(days)) {
    const day = row[kept]
    delete row[kept]
    if (typeof day === "string" && noonOf(day) === row[column]) row[column] = day
  }
  return row
}

export function inPortions<T>(values: readonly T[], most = MAX_VALUES): T[][] {
  const portions: T[][] = []
  for (let from = 0; from < values.length; from += most) portions.push(values.slice(from, from + most))
  return portions
}

function where(layout: Layout, conditions: readonly Condition[]): TableQuery {
  const { owner } = layout
  const parts = owner ? [`${owner.column} = ?`] : []
  const values: unknown[] = owner ? [owner.value] : []
  for (const { column, is, value } of conditions) {
    const list = is === "in" ? padded(value as readonly unknown[]) : [value]
    const marks = list.map(() => "?").join(", ")
    parts.push(is === "in" ? `${layout.column(column)} IN (${marks})` : `${layout.column(column)} ${is} ?`)
    values.push(...list)
  }
  return { sql: parts.join(" AND ") || "1 = 1", values }
}

/** To one of four lengths: engines keep each statement prepared, and there would be one for every length. */
function padded(values: readonly unknown[]): readonly unknown[] {
  const length = [1, 8, 64, MAX_VALUES].find((length) => values.length <= length) ?? values.length
  return [...values, ...new Array<unknown>(length - values.length).fill(values.at(-1) ?? null)]
}
