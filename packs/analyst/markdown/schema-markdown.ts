import type { SchemaAnswer } from "../../../core/pack.ts"
import { type DatabaseSchema, schemaLimits, type DatabaseTable } from "../database/schema.ts"
import { fittingTables } from "./narrow-schema.ts"

/** The default limit of the characters of a schema that a model sees. */
export const MAX_SCHEMA = 24_000
/** The share of it for the names of tables that are not shown in full. */
const NAMES = 1 / 6
const COMMENT = 200

export interface Narrowing {
  readonly question?: string | undefined
  /** The most characters. */
  readonly most?: number | undefined
  /** Tables that were shown before. They stay if there is room, so that the text for the model changes rarely. */
  readonly keep?: readonly string[] | undefined
}

export interface NarrowedSchema extends Omit<SchemaAnswer, "readAt"> {
  /** The names of the tables that are shown in full. */
  readonly names: readonly string[]
}

/**
 * A schema for a model: completely if it fits, otherwise the tables that fit the question, and the names of the others.
 */
export function toMarkdown({ tables, more }: DatabaseSchema, narrowing: Narrowing = {}): NarrowedSchema {
  const { question = "", most = MAX_SCHEMA, keep = [] } = narrowing
  const names = Math.floor(most * NAMES)
  const shown = chooseTables(tables, { question, keep, most: most - names })
  const rest = tables.filter((table) => !shown.has(table)).map(({ name }) => name)
  const inOrder = tables.filter((table) => shown.has(table))
  const parts = inOrder.map((table) => shown.get(table) ?? "")
  if (rest.length > 0 || more) parts.push(others(rest, more, names))
  const markdown = parts.join("\n\n") || "This database has no tables."
  return { markdown, tables: tables.length, shown: shown.size, names: inOrder.map(({ name }) => name) }
}

interface Chosen {
  readonly question: string
  readonly keep: readonly string[]
  readonly most: number
}

/** Tables with their descriptions. */
type Described = ReadonlyMap<DatabaseTable, string>

/** All tables if they fit; otherwise the previous ones and those that fit the question, or only the latter. */
function chooseTables(tables: readonly DatabaseTable[], { question, keep, most }: Chosen): Described {
  const texts = new Map(tables.map((table) => [table, describe(table)]))
  const fitting = (some: readonly DatabaseTable[]) => firstThatFit(some, texts, most)
  const whole = fitting(tables)
  const isWhole = (shown: Described, some: Iterable<DatabaseTable>) =>
    [...some].every((table) => shown.get(table) === texts.get(table))
  if (isWhole(whole, tables)) return whole
  const asked = fittingTables(tables, question)
  const retained = tables.filter(({ name }) => keep.includes(name))
  const both = new Set([...retained, ...asked])
  // A message that fits no table, such as thanks, does not change the shown tables.
  if (both.size === 0) return whole
  const together = fitting([...both])
  return isWhole(together, both) ? together : fitting(asked.length > 0 ? asked : retained)
}

/**
 * Shortens a long table by its sample rows, then its comments; the first table is cut to fit, because a model needs to
 * see columns.
 */
function firstThatFit(tables: readonly DatabaseTable[], texts: Described, most: number): Described {
  const shown = new Map<DatabaseTable, string>()
  let left = most
  for (const table of tables) {
    const text =
      fitted(table, texts.get(table) ?? "", left) ?? (shown.size === 0 ? cutAtLine(bare(table), left) : undefined)
    if (text === undefined) break
    shown.set(table, text)
    left -= text.length
  }
  return shown
}

function fitted(table: DatabaseTable, whole: string, most: number): string | undefined {
  if (whole.length <= most) return whole
  const unsampled = describe({ ...table, sample: undefined })
  if (unsampled.length <= most) return unsampled
  const text = bare(table)
  return text.length <= most ? text : undefined
}

const bare = (table: DatabaseTable): string =>
  describe({ ...table, sample: undefined, columns: table.columns.map((column) => ({ ...column, comment: null })) })

function cutAtLine(text: string, most: number): string {
  const tail = "\n(and more columns, for which there is no room here)"
  const end = text.lastIndexOf("\n", Math.max(0, most - tail.length))
  return `${end > 0 ? text.slice(0, end) : text.slice(0, Math.max(0, most - tail.length)).toWellFormed()}${tail}`
}

function describe({ name, kind, comment, rows, columns, primaryKey, foreignKeys, sample }: DatabaseTable): string {
  const about = rows === null ? "" : `, about ${rows} row(s)`
  const lines = [`## ${flat(name)} (${kind}${about})`]
  if (comment) lines.push(cut(comment, COMMENT))
  for (const column of columns) {
    const facts = [column.type, ...oneOf(column.values), ...(column.nullable ? [] : ["not null"])]
    if (primaryKey.length === 1 && primaryKey[0] === column.name) facts.push("primary key")
    lines.push(
      `- ${flat(column.name)}: ${facts.join(", ")}${column.comment ? ` (${cut(column.comment, COMMENT)})` : ""}`,
    )
  }
  // Separate paragraphs, because otherwise they would continue the list of columns.
  if (primaryKey.length > 1) lines.push("", `Primary key: ${flat(primaryKey.join(", "))}`)
  for (const key of foreignKeys) {
    const columns = key.references.length > 0 ? `(${key.references.join(", ")})` : ""
    lines.push("", flat(`Refers: ${key.columns.join(", ")} → ${key.table}${columns}`))
  }
  if (sample && sample.rows.length > 0) {
    lines.push("", tableRow(sample.columns.map((column) => column.name)), tableRow(sample.columns.map(() => "---")))
    for (const row of sample.rows) lines.push(tableRow(row.map(shortly)))
  }
  return lines.join("\n")
}

/** Exact values as SQL literals, because an inexact value finds nothing. */
function oneOf(values: readonly string[] | undefined): string[] {
  if (!values || values.length === 0) return []
  const shown = values
    .slice(0, schemaLimits.values)
    .map((value) => `'${value.replaceAll(/\s+/g, " ").replaceAll("'", "''")}'`)
  return [`one of ${shown.join(" ")}${values.length > shown.length ? " and more" : ""}`]
}

function others(names: readonly string[], more: boolean, most: number): string {
  let text = ""
  let named = 0
  for (const name of names) {
    const next = `${text === "" ? "" : ", "}${flat(name)}`
    if (text.length + next.length > most - 200) break
    text += next
    named++
  }
  const unnamed = names.length - named
  const tail = [...(unnamed > 0 ? [`and ${unnamed} more`] : []), ...(more ? ["and more that were not read"] : [])]
  return `## Other tables\n${[text, ...tail].filter((part) => part !== "").join(" ")}`
}

const tableRow = (cells: readonly string[]) => `| ${cells.map(flat).join(" | ")} |`

function shortly(value: unknown): string {
  if (value === null || value === undefined) return "NULL"
  return cut(typeof value === "string" ? value : JSON.stringify(value), schemaLimits.sampleCharacters)
}

const cut = (text: string, most: number) => flat(text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text)

/** On one line and without `|`, so that the name of a column cannot add text to the page. */
const flat = (text: string) => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")
