import { workspaceTables } from "../../protocol/workspace-tables.ts"
import { dateAndZone } from "./tables/date-words.ts"
import type { Desk, DeskRow } from "./tables/desk.ts"
import { nameColumn } from "./tables/find-row.ts"
import type { TableSpec } from "./tables/table.ts"

const LONGEST_HEADLINE = 300

/** One line about a row that exists: everything a person or a model needs to speak of it. */
export function describeRow(table: TableSpec, row: DeskRow, desk: Desk): string {
  return `${headlineOf(table, row)} (${[...traitsOf(table, row, desk), `id: ${row.id}`].join(", ")})`
}

/** The same about one that does not exist yet. */
export function describeNewRow(table: TableSpec, row: DeskRow, desk: Desk): string {
  const traits = traitsOf(table, row, desk, "forDeciding")
  return `"${headlineOf(table, row)}"${traits.length > 0 ? ` (${traits.join(", ")})` : ""}`
}

export function headlineOf(table: TableSpec, row: DeskRow): string {
  const column = nameColumn(table.name)
  const text = table.headline?.(row) ?? (column ? String(row[column]) : String(row.id))
  return cut(text.replaceAll(/\s+/g, " "), LONGEST_HEADLINE)
}

export function traitsOf({ fields }: TableSpec, row: DeskRow, desk: Desk, forDeciding?: "forDeciding"): string[] {
  return fields.flatMap(({ label, column, kind }) => {
    const value = row[column] ?? null
    if (!label || value === null || value === "") return []
    const shown = kind.brief && !forDeciding ? kind.brief(value, desk) : kind.show(value, desk)
    return [`${label}: ${inOneLine(shown)}`]
  })
}

/** A value in a sentence. */
export function inOneLine(value: unknown, most = 100): string {
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return "none"
  if (Array.isArray(value)) return value.map((each) => inOneLine(each, most)).join(", ")
  if (typeof value === "boolean") return value ? "yes" : "no"
  return cut(String(value).replaceAll(/\s+/g, " "), most)
}

/** A row as a person reads it, column by column; `columns`: only these. */
export function toReadable(
  table: TableSpec,
  row: DeskRow,
  desk: Desk,
  columns = Object.keys(row),
): Record<string, unknown> {
  const shown = columns.map((column) => {
    const value = row[column] ?? null
    const kind = table.fields.find((field) => field.column === column)?.kind
    const isTime = typeof value === "number" && workspaceTables[table.name].made.includes(column)
    return [column, kind ? kind.show(value, desk) : isTime ? dateAndZone(value, desk.timeZone) : value]
  })
  return Object.fromEntries(shown) as Record<string, unknown>
}

export const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}…`)

export const nounOf = ({ name }: TableSpec): string => workspaceTables[name].noun
export const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
