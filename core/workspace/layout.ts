import type { UserId } from "../protocol/ids.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { noonOf } from "./days.ts"
import { type KnownTable, readTable, type Row, textColumns } from "./known-tables.ts"

/** How a database names the six tables. Names come from the specification and never from a caller. */
export interface Layout {
  table(name: TableName): string
  column(name: string): string
  /** SQL that orders rows of the same millisecond. */
  readonly tie: string
  /** If the tables contain rows of several users, the user to whose rows every read and write is limited. */
  readonly owner?: { readonly column: string; readonly value: UserId }
}

export interface TableQuery {
  readonly sql: string
  readonly values: readonly unknown[]
}
/** A change. If `mustChange` is set and it changes no row, its whole transaction is rolled back. */
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

/** A range of rows in the order of their creation. */
export interface Portion {
  readonly after: { readonly createdAt: number; readonly id: string } | undefined
  readonly limit: number
}

/** Selects rows after one, in the order of their creation: their sizes and the compared columns, without their texts. */
export function selectHeads(
  layout: Layout,
  name: TableName,
  conditions: readonly Condition[],
  portion: Portion,
): TableQuery {
  return selectPortion(layout, { name, columns: headColumns(layout, name) }, conditions, portion)
}

/**
 * Selects a limited number of rows, matching or not: `fits` is 0 for those that do not match. With the conditions in
 * WHERE, a query could examine all rows of a table to return a few. Conditions that an index serves stay in WHERE.
 */
function selectPortion(
  layout: Layout,
  { name, columns }: { readonly name: TableName; readonly columns: string },
  conditions: readonly Condition[],
  { after, limit }: Portion,
): TableQuery {
  const { indexed, fits } = split(layout, name, conditions)
  const { sql, values } = where(layout, indexed)
  const place = `${layout.column("createdAt")}, ${layout.column("id")}`
  const behind = after ? ` AND (${place}) > (?, ?)` : ""
  return {
    sql: `SELECT ${columns}, ${fits.sql} AS "fits" FROM ${layout.table(name)} WHERE ${sql}${behind} ORDER BY ${place} LIMIT ?`,
    values: [...fits.values, ...values, ...(after ? [after.createdAt, after.id] : []), limit],
  }
}

/** The conditions that an index serves, and all others as one column. */
function split({ owner: _, ...layout }: Layout, name: TableName, conditions: readonly Condition[]) {
  const { references } = readTable(name)
  const isIndexed = ({ column, is }: Condition) => is === "=" && column in references
  const others = conditions.filter((condition) => !isIndexed(condition))
  const { sql, values } = where(layout, others)
  const fits: TableQuery =
    others.length === 0 ? { sql: "1", values } : { sql: `CASE WHEN ${sql} THEN 1 ELSE 0 END`, values }
  return { indexed: conditions.filter(isIndexed), fits }
}

/** The number of rows that fit the conditions, among the `examined` ones. */
export function selectCount(
  layout: Layout,
  name: TableName,
  conditions: readonly Condition[],
  limit: number,
): TableQuery {
  const { indexed, fits } = split(layout, name, conditions)
  const { sql, values } = where(layout, indexed)
  const examined = `SELECT ${fits.sql} AS fits FROM ${layout.table(name)} WHERE ${sql} LIMIT ?`
  return {
    sql: `SELECT count(*) AS "examined", coalesce(sum(fits), 0) AS "count" FROM (${examined}) AS examined`,
    values: [...fits.values, ...values, limit],
  }
}

/** `selectHeads` for the rows with these ids, in any order. */
export function selectBytes(layout: Layout, name: TableName, ids: readonly string[]): TableQuery {
  const { sql, values } = where(layout, [{ column: "id", is: "in", value: ids }])
  return { sql: `SELECT ${headColumns(layout, name)} FROM ${layout.table(name)} WHERE ${sql}`, values }
}

/** Sums the bytes of the rows' texts, plus a constant for each row. */
export function sumBytes(layout: Layout, name: TableName, conditions: readonly Condition[]): TableQuery {
  const { sql, values } = where(layout, conditions)
  return {
    sql: `SELECT sum(${bytesColumn(layout, name)} + 100) AS "bytes" FROM ${layout.table(name)} WHERE ${sql}`,
    values,
  }
}

const bytesColumn = (layout: Layout, name: TableName): string =>
  textColumns(readTable(name))
    .map((column) => `coalesce(octet_length(${layout.column(column)}), 0)`)
    .join(" + ")

function headColumns(layout: Layout, name: TableName): string {
  const table = readTable(name)
  const compared = ["id", "createdAt", ...dueColumns(table)].map((column) => `${layout.column(column)} AS "${column}"`)
  return [...compared, `${bytesColumn(layout, name)} AS "bytes"`].join(", ")
}

const dueColumns = ({ due, days = {} }: KnownTable): string[] =>
  due === undefined ? [] : [due, ...(days[due] === undefined ? [] : [days[due]])]

/** Selects the columns that rows are ordered by; of a text only its first characters. */
export function selectKeys(
  layout: Layout,
  name: TableName,
  conditions: readonly Condition[],
  { column, characters, ...portion }: Portion & { readonly column: string; readonly characters: number },
): TableQuery {
  const table = readTable(name)
  const kept = table.days?.[column]
  const wanted = ["id", "createdAt", ...dueColumns(table), column, ...(kept === undefined ? [] : [kept])]
  const columns = [...new Set(wanted)].map((each) => {
    const isText = textColumns(table).includes(each)
    return `${isText ? `substr(${layout.column(each)}, 1, ${characters})` : layout.column(each)} AS "${each}"`
  })
  return selectPortion(layout, { name, columns: columns.join(", ") }, conditions, portion)
}

/** Selects columns of these rows. With `characters`, texts are cut to that length and returned with their sizes in bytes. */
export function selectCut(
  layout: Layout,
  name: TableName,
  wanted: { readonly ids: readonly string[]; readonly columns: readonly string[]; readonly characters?: number },
): TableQuery {
  const table = readTable(name)
  const texts = wanted.characters === undefined ? [] : textColumns(table)
  const kept = wanted.columns.flatMap((column) => (table.days?.[column] === undefined ? [] : [table.days[column]]))
  const columns = [...new Set(["id", ...wanted.columns, ...kept])].flatMap((each) => {
    const column = layout.column(each)
    if (!texts.includes(each)) return [`${column} AS "${each}"`]
    return [`substr(${column}, 1, ${wanted.characters}) AS "${each}"`, `octet_length(${column}) AS "#${each}"`]
  })
  const { sql, values } = where(layout, [{ column: "id", is: "in", value: wanted.ids }])
  return { sql: `SELECT ${columns.join(", ")} FROM ${layout.table(name)} WHERE ${sql}`, values }
}

/** Inserts nothing if a row with this id exists, whichever user it belongs to. */
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

/** Sets all columns each time, so that there is one statement for a table and not one for each choice of columns. */
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

/** The columns of a row, and those that store its days. */
export const storedColumns = ({ columns, days = {} }: KnownTable): string[] => [...columns, ...Object.values(days)]

/** A day is stored in a separate column; the moment next to it is for programs that know only moments. */
function toStored({ days = {} }: KnownTable, row: Row): Row {
  const apart = Object.entries(days).map(([column, kept]) => {
    const value = row[column]
    return typeof value === "string" ? { [column]: noonOf(value), [kept]: value } : { [kept]: null }
  })
  return Object.assign({ ...row }, ...apart) as Row
}

/** Converts a stored row. The day is valid only with its moment: a program that changed the moment did not know the day. */
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
  // For rows by their ids the owner is only a check. As a plain column, SQLite would rather read all rows of the owner.
  const areNamed = conditions.some(({ column, is }) => column === "id" && is === "in")
  const parts = owner ? [areNamed ? `coalesce(${owner.column}, '') = ?` : `${owner.column} = ?`] : []
  const values: unknown[] = owner ? [owner.value] : []
  for (const { column, is, value } of conditions) {
    const list = is === "in" ? padded(value as readonly unknown[]) : [value]
    const marks = list.map(() => "?").join(", ")
    parts.push(is === "in" ? `${layout.column(column)} IN (${marks})` : `${layout.column(column)} ${is} ?`)
    values.push(...list)
  }
  return { sql: parts.join(" AND ") || "1 = 1", values }
}

/** Repeats the last value up to one of four lengths, because engines cache one prepared statement for each length. */
export function padded(values: readonly unknown[]): readonly unknown[] {
  const length = [1, 8, 64, MAX_VALUES].find((length) => values.length <= length) ?? values.length
  return [...values, ...new Array<unknown>(length - values.length).fill(values.at(-1) ?? null)]
}
