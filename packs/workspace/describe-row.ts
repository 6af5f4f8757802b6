import { quote, quoteIfNeeded, workspaceTables } from "../../core/pack.ts"
import { dateAndZone } from "./tables/date-words.ts"
import type { Desk, DeskRow, Value } from "./tables/desk.ts"
import { nameColumn } from "./tables/find-row.ts"
import type { ArgumentKind } from "./tables/kinds.ts"
import type { TableSpec } from "./tables/table.ts"

const LONGEST_HEADLINE = 300

/** Describes a row on one line in a list or an answer: everything that a person or a model needs to refer to it. */
export function describeRow(table: TableSpec, row: DeskRow, desk: Desk): string {
  return `${headlineOf(table, row)} (${[...traitsOf(table, row, desk), `id: ${row.id}`].join(", ")})`
}

/** The same for the summary of a proposal: text of the row is quoted, so that it cannot pass for Pawl's. */
export function describeProposedRow(table: TableSpec, row: DeskRow, desk: Desk): string {
  return withTraits(quotedHeadline(table, row), proposedTraits(table, row, desk))
}

/** The same for a row that does not exist yet. */
export function describeNewRow(table: TableSpec, row: DeskRow, desk: Desk): string {
  return withTraits(quotedHeadline(table, row), proposedTraits(table, row, desk, "forDeciding"))
}

const withTraits = (name: string, traits: readonly string[]): string =>
  traits.length > 0 ? `${name} (${traits.join(", ")})` : name

/** The name of a row, quoted, for a sentence that asks a person to decide. */
export const quotedHeadline = (table: TableSpec, row: DeskRow): string => quote(headlineOf(table, row))

export function headlineOf(table: TableSpec, row: DeskRow): string {
  const column = nameColumn(table.name)
  const text = table.headline?.(row) ?? (column ? String(row[column]) : String(row.id))
  return cut(text.replaceAll(/\s+/g, " "), LONGEST_HEADLINE)
}

function traitsOf({ fields }: TableSpec, row: DeskRow, desk: Desk): string[] {
  return fields.flatMap(({ label, column, kind }) => {
    const value = row[column] ?? null
    if (!label || value === null || value === "") return []
    return [`${label}: ${inOneLine(kind.brief ? kind.brief(value, desk) : kind.show(value, desk))}`]
  })
}

function proposedTraits({ fields }: TableSpec, row: DeskRow, desk: Desk, forDeciding?: "forDeciding"): string[] {
  return fields.flatMap(({ label, column, kind }) => {
    const value = row[column] ?? null
    if (!label || value === null || value === "") return []
    return [`${label}: ${proposedValue(kind, value, desk, forDeciding)}`]
  })
}

/** A value in the summary of a proposal. */
export function proposedValue(kind: ArgumentKind, value: Value, desk: Desk, forDeciding?: "forDeciding"): string {
  if (kind.propose) return inOneLine(kind.propose(value, desk))
  const shown = kind.brief && !forDeciding ? kind.brief(value, desk) : kind.show(value, desk)
  if (kind.wordsItself || shown === null || shown === "") return inOneLine(shown)
  if (!Array.isArray(shown)) return quoteIfNeeded(inOneLine(shown))
  return shown.length === 0 ? "none" : shown.map((each) => quoteIfNeeded(inOneLine(each))).join(", ")
}

/** A value in a sentence, shortened. */
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
    // Values of a fixed set, such as `in_progress`, are not converted, because the page translates them.
    if (kind) return [column, kind.refers && kind.propose ? kind.propose(value, desk) : kind.show(value, desk)]
    return [column, isTime ? dateAndZone(value, desk.timeZone) : value]
  })
  return Object.fromEntries(shown) as Record<string, unknown>
}

export const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}…`)

export const nounOf = ({ name }: TableSpec): string => workspaceTables[name].noun
export const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
