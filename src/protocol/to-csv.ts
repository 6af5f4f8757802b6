import type { Column } from "./connections.ts"

/** A result as a file after RFC 4180: lines end with CRLF, and the first names the columns. */
export function toCsv(columns: readonly Column[], rows: readonly (readonly unknown[])[]): string {
  const lines = [columns.map(({ name }) => toCell(name)), ...rows.map((row) => row.map(toCell))]
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("")
}

/** NULL is nothing at all, and an empty text is a pair of quotation marks: who cares can tell them apart. */
function toCell(value: unknown): string {
  if (value === null || value === undefined) return ""
  const text = withoutFormula(toText(value))
  return text === "" || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function toText(value: unknown): string {
  if (typeof value === "string") return value
  if (typeof value === "object" && value !== null && "base64" in value && typeof value.base64 === "string")
    return value.base64
  return JSON.stringify(value)
}

/** What a spreadsheet would run as a formula; a number with its sign is none. */
const FORMULA = /^[\s]*[=+\-@\t\r]/
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

const withoutFormula = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text)
