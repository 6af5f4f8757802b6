import type { Column } from "./connections.ts"

/** Characters of CSV in one piece; a single longer line is one piece. */
const PORTION = 256 * 1024

/**
 * A result as a file after RFC 4180: lines end with CRLF, and the first names the columns. It comes in portions, so that
 * whoever sends it can let others have a turn in between.
 */
export function* toCsv(columns: readonly Column[], rows: readonly (readonly unknown[])[]): Generator<string> {
  let portion = toLine(columns.map(({ name }) => name))
  for (const row of rows) {
    portion += toLine(row)
    if (portion.length < PORTION) continue
    yield portion
    portion = ""
  }
  yield portion
}

const toLine = (cells: readonly unknown[]): string => `${cells.map(toCell).join(",")}\r\n`

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

/** What a spreadsheet would run as a formula; a number with its sign is none. Each digit has one way to fit: cells are long. */
const FORMULA = /^\s*[=+\-@\t\r]/
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

const withoutFormula = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text)
