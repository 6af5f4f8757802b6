import { z } from "zod"
import { encodings } from "../../shared/encoding/text-encoding.ts"
import type { Column } from "./connections.ts"

/** CSV files of people: what they may say of one, and what was understood of it. */

const Flag = z.enum(["true", "false"])

/** What the cells of a file do not tell, or tell wrongly. Nothing of it has to be said. */
const said = () => ({
  /** What stands before the decimals, where that could be either. */
  decimal: z.enum(["point", "comma"]).optional(),
  /** Whether 03/04/2025 is in April or in March, where it could be either. */
  dates: z.enum(["day-first", "month-first"]).optional(),
  /** What parts the cells. */
  delimiter: z.enum(["comma", "semicolon", "tab", "bar"]).optional(),
  encoding: z.enum(encodings).optional(),
})

export const CsvQuery = z.object({
  /** What the connection is called, and its table after it. */
  name: z.string().trim().min(1).max(200).default("CSV"),
  /** Tells what would be in it, and keeps nothing. */
  preview: Flag.optional(),
  /** Whether the first row names the columns. */
  header: Flag.optional(),
  ...said(),
})
export type CsvQuery = z.infer<typeof CsvQuery>

const Said = z.object(said())
export type CsvReading = z.infer<typeof Said> & { readonly header?: boolean | undefined }

/** What somebody says of a file, out of the query of its upload. */
export function toReading({ header, decimal, dates, delimiter, encoding }: CsvQuery): CsvReading {
  return { decimal, dates, delimiter, encoding, header: header === undefined ? undefined : header === "true" }
}

/** What only a person can say; until then a column stays text. */
const CsvQuestion = z.object({
  /** Null where it is about the whole file. */
  column: z.string().nullable(),
  /** The parameter of the upload that answers it, and what it may be. */
  option: z.enum(["decimal", "dates", "header"]),
  choices: z.array(z.string()),
  says: z.string(),
})
export type CsvQuestion = z.infer<typeof CsvQuestion>

/** A CSV file as it was understood. */
export const CsvPreview = z.object({
  /** `note`: what is not in the numbers themselves, such as a currency. */
  columns: z.array(z.object({ name: z.string(), type: z.string(), note: z.string().optional() })),
  /** The first of them. */
  rows: z.array(z.array(z.unknown())),
  delimiter: z.string(),
  rowCount: z.number().int(),
  /** What had to be guessed or filled in, and what stayed text for a reason. */
  warnings: z.array(z.string()),
  questions: z.array(CsvQuestion),
})
export type CsvPreview = z.infer<typeof CsvPreview>

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
