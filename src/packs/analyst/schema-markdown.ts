import type { SchemaAnswer } from "../../protocol/connections.ts"
import { type DatabaseSchema, schemaLimits, type Table } from "./database-schema.ts"
import { rankTables } from "./narrow-schema.ts"

/** So many characters a model is shown of a schema, where nothing less is asked for. */
export const MOST_SCHEMA = 24_000
/** The share of these that is for the names of tables which are not shown in full. */
const NAMES = 1 / 6
const COMMENT = 200

/** A schema for a model to read: in full where it fits, else the tables that fit the question, and the others by name. */
export function toMarkdown(schema: DatabaseSchema, question = "", most = MOST_SCHEMA): Omit<SchemaAnswer, "readAt"> {
  const ranked = rankTables(schema.tables, question)
  const shown = new Map<Table, string>()
  const names = Math.floor(most * NAMES)
  let left = most - names
  for (const table of ranked) {
    const text = describe(table)
    if (text.length > left) break
    shown.set(table, text)
    left -= text.length
  }
  const inOrder = schema.tables.flatMap((table) => shown.get(table) ?? [])
  const rest = ranked.filter((table) => !shown.has(table)).map(({ name }) => name)
  const parts = [...inOrder, ...(rest.length > 0 || schema.more ? [others(rest, schema.more, names)] : [])]
  const markdown = parts.join("\n\n") || "This database has no tables."
  return { markdown, tables: schema.tables.length, shown: shown.size }
}

function describe({ name, kind, comment, rows, columns, primaryKey, foreignKeys, sample }: Table): string {
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
