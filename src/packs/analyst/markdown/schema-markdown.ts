import type { SchemaAnswer } from "../../../protocol/databases/connections.ts"
import { type DatabaseSchema, schemaLimits, type DatabaseTable } from "../database/schema.ts"
import { fittingTables } from "./narrow-schema.ts"

/** Characters of a schema that a model is shown, unless less is asked for. */
export const MAX_SCHEMA = 24_000
/** The share of these that is for the names of tables which are not shown in full. */
const NAMES = 1 / 6
const COMMENT = 200

export interface Narrowing {
  readonly question?: string | undefined
  /** Characters that there is room for. */
  readonly most?: number | undefined
  /** Tables that were shown before. They stay where there is room, so that what a model is told changes seldom. */
  readonly keep?: readonly string[] | undefined
}

export interface NarrowedSchema extends Omit<SchemaAnswer, "readAt"> {
  /** The tables that are shown in full, by name. */
  readonly names: readonly string[]
}

/** A schema for a model to read: in full where it fits, else the tables that fit the question, and the others by name. */
export function toMarkdown({ tables, more }: DatabaseSchema, narrowing: Narrowing = {}): NarrowedSchema {
  const { question = "", most = MAX_SCHEMA, keep = [] } = narrowing
  const names = Math.floor(most * NAMES)
  const texts = new Map(tables.map((table) => [table, describe(table)]))
  const shown = chooseTables(texts, { question, keep, most: most - names })
  const rest = tables.filter((table) => !shown.has(table)).map(({ name }) => name)
  const inOrder = tables.filter((table) => shown.has(table))
  const parts = inOrder.map((table) => texts.get(table) ?? "")
  if (rest.length > 0 || more) parts.push(others(rest, more, names))
  const markdown = parts.join("\n\n") || "This database has no tables."
  return { markdown, tables: tables.length, shown: shown.size, names: inOrder.map(({ name }) => name) }
}

interface Chosen {
  readonly question: string
  readonly keep: readonly string[]
  readonly most: number
}

/** All of them where there is room; else those that were shown before and those that fit the question, or these alone. */
function chooseTables(
  texts: ReadonlyMap<DatabaseTable, string>,
  { question, keep, most }: Chosen,
): ReadonlySet<DatabaseTable> {
  const tables = [...texts.keys()]
  const whole = firstThatFit(texts, tables, most)
  if (whole.size === tables.length) return whole
  const fitting = fittingTables(tables, question)
  const kept = tables.filter(({ name }) => keep.includes(name))
  const both = new Set([...kept, ...fitting])
  // A question that fits nothing, like a word of thanks, is no reason to show something else.
  if (both.size === 0) return whole
  const together = firstThatFit(texts, [...both], most)
  return together.size === both.size ? together : firstThatFit(texts, fitting.length > 0 ? fitting : kept, most)
}

function firstThatFit(
  texts: ReadonlyMap<DatabaseTable, string>,
  tables: readonly DatabaseTable[],
  most: number,
): ReadonlySet<DatabaseTable> {
  const shown = new Set<DatabaseTable>()
  let left = most
  for (const table of tables) {
    const { length } = texts.get(table) ?? ""
    if (length > left) break
    shown.add(table)
    left -= length
  }
  return shown
}

function describe({ name, kind, comment, rows, columns, primaryKey, foreignKeys, sample }: DatabaseTable): string {
  const about = rows === null ? "" : `, about ${rows} row(s)`
  const lines = [`## ${flat(name)} (${kind}${about})`]
  if (comment) lines.push(cut(comment, COMMENT))
  for (const column of columns) {
    const facts = [column.type, ...(column.nullable ? [] : ["not null"])]
    if (primaryKey.length === 1 && primaryKey[0] === column.name) facts.push("primary key")
    lines.push(
      `- ${flat(column.name)}: ${facts.join(", ")}${column.comment ? ` (${cut(column.comment, COMMENT)})` : ""}`,
    )
  }
  if (primaryKey.length > 1) lines.push(`Primary key: ${flat(primaryKey.join(", "))}`)
  for (const key of foreignKeys) {
    const columns = key.references.length > 0 ? `(${key.references.join(", ")})` : ""
    lines.push(flat(`Refers: ${key.columns.join(", ")} → ${key.table}${columns}`))
  }
  if (sample && sample.rows.length > 0) {
    lines.push("", tableRow(sample.columns.map((column) => column.name)), tableRow(sample.columns.map(() => "---")))
    for (const row of sample.rows) lines.push(tableRow(row.map(shortly)))
  }
  return lines.join("\n")
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

/** On one line, and without what would end a cell: whoever names a column cannot write the rest of the page. */
const flat = (text: string) => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")
