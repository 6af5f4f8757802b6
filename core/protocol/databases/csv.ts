import { z } from "zod"
import { encodings } from "../../shared/encoding/text-encoding.ts"
import type { Column } from "./connections.ts"

/** Uploads of CSV files: options, and how a file was understood. */

const Flag = z.enum(["true", "false"])

/** Overrides what is detected in a file. All fields are optional. */
const said = () => ({
  /** The decimal separator, if the file is ambiguous. */
  decimal: z.enum(["point", "comma"]).optional(),
  /** Whether 03/04/2025 is in April or in March, if the file is ambiguous. */
  dates: z.enum(["day-first", "month-first"]).optional(),
  /** The delimiter. */
  delimiter: z.enum(["comma", "semicolon", "tab", "bar"]).optional(),
  encoding: z.enum(encodings).optional(),
})

export const CsvQuery = z.object({
  /** The name of the connection and of its table. */
  name: z.string().trim().min(1).max(200).default("CSV"),
  /** Returns how the file would be read, and stores nothing. */
  preview: Flag.optional(),
  /** Whether the first row names the columns. */
  header: Flag.optional(),
  ...said(),
})
export type CsvQuery = z.infer<typeof CsvQuery>

const Said = z.object(said())
export type CsvReading = z.infer<typeof Said> & { readonly header?: boolean | undefined }

/** The options as query parameters of the upload. */
export function toReading({ header, decimal, dates, delimiter, encoding }: CsvQuery): CsvReading {
  return { decimal, dates, delimiter, encoding, header: header === undefined ? undefined : header === "true" }
}

/** A question that only the user can answer. Until then a column stays text. */
const CsvQuestion = z.object({
  /** Null if it concerns the whole file. */
  column: z.string().nullable(),
  /** The query parameter that answers it, and its possible values. */
  option: z.enum(["decimal", "dates", "header"]),
  choices: z.array(z.string()),
  says: z.string(),
})
export type CsvQuestion = z.infer<typeof CsvQuestion>

/** How a CSV file was read. */
export const CsvPreview = z.object({
  /** `note`: what the numbers do not contain, such as a currency. */
  columns: z.array(z.object({ name: z.string(), type: z.string(), note: z.string().optional() })),
  /** The first of them. */
  rows: z.array(z.array(z.unknown())),
  delimiter: z.string(),
  rowCount: z.number().int(),
  /** Notes on guessed or filled-in values, and on columns that stayed text. */
  warnings: z.array(z.string()),
  questions: z.array(CsvQuestion),
})
export type CsvPreview = z.infer<typeof CsvPreview>

/** Characters of CSV in one piece; a single longer line is one piece. */
const PORTION = 256 * 1024

/**
 * A result as a CSV file after RFC 4180: lines end with CRLF, and the first has the column names. It comes in chunks,
 * so that other work can run in between.
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

/** NULL is an empty field, and an empty text is a pair of quotation marks, so that both can be distinguished. */
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

/**
 * Text that a spreadsheet would execute as a formula. A signed number is not one. Each digit matches in only one way,
 * because cells are long.
 */
const FORMULA = /^\s*[=+\-@\t\r]/
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

const withoutFormula = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text)
