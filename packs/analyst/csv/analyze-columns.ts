import type { CsvQuestion, CsvReading } from "../../../core/pack.ts"
import { ColumnCells } from "./column-cells.ts"
import { type ColumnType, type Habits, toColumnType } from "./column-type.ts"
import { columnNames } from "./columns.ts"
import { type CsvLimits, CsvRefusal, PREVIEW_ROWS } from "./job.ts"
import { findHeader } from "./find-header.ts"

export type CsvRow = readonly string[]
/** Calls `see` for every row, with the line on which it ends. */
export type EachRow = (see: (row: CsvRow, line: number) => void) => Promise<void>

/** The facts about a file after all of it was read once. */
export interface FileAnalysis {
  readonly names: readonly string[]
  readonly types: readonly ColumnType[]
  /** True if the first row contains the names of the columns. */
  readonly header: boolean
  readonly first: readonly CsvRow[]
  readonly rowCount: number
  /** Warnings about the whole file; each column has its own. */
  readonly warnings: readonly string[]
  readonly questions: readonly CsvQuestion[]
}

/**
 * Reads the whole file, because a column's type is known only after its last cell, and sometimes after all other
 * columns.
 */
export async function analyzeColumns(each: EachRow, options: CsvReading, limits: CsvLimits): Promise<FileAnalysis> {
  const columns: ColumnCells[] = []
  const first: CsvRow[] = []
  let top: { readonly row: CsvRow; readonly line: number } | undefined
  let rowCount = 0
  let [short, long, json] = [0, 0, 0]
  const see = (row: CsvRow, line: number) => {
    for (let index = 0; index < row.length; index++) columns[index]?.see(row[index] ?? "", line)
    rowCount++
    if (rowCount > limits.rows) throw new CsvRefusal(`it has more than ${limits.rows} rows`)
  }
  await each((row, line) => {
    if (row.length > limits.columns)
      throw new CsvRefusal(`line ${line} has ${row.length} cells, more than ${limits.columns}`)
    if (/^[[{]/.test(row[0]?.trim() ?? "")) json++
    while (columns.length < row.length) columns.push(new ColumnCells())
    if (!top) return void (top = { row, line })
    if (row.length < top.row.length) short++
    if (row.length > top.row.length) long++
    see(row, line)
    if (first.length < PREVIEW_ROWS) first.push(row)
  })
  if (!top) throw new CsvRefusal("there is nothing in it")
  if (json > rowCount / 2) throw new CsvRefusal(JSON_FILE)
  const { header, warning, question } = findHeader(top.row, columns, options.header)
  if (!header) {
    see(top.row, top.line)
    first.unshift(top.row)
  }
  const names = columnNames(header ? top.row : [], columns.length)
  const habits = habitsOf(columns, options)
  const types = columns.map((column) => toColumnType(column, habits))
  const warnings = [
    ...(warning === undefined ? [] : [warning]),
    ...(header ? titleAbove(top.row, columns.length) : []),
    ...(short > 0 ? [`${short} row(s) have fewer cells than the first; what is missing is empty.`] : []),
    ...(long > 0 ? [`${long} row(s) have more cells than the first; they are in columns without a name.`] : []),
    ...(rowCount === 0 ? ["There is only the row with the names of the columns."] : []),
  ]
  const asked = types.flatMap(({ question }, index) => (question ? [{ column: names[index] ?? "", ...question }] : []))
  const questions = [...(question ? [question] : []), ...asked]
  return { names, types, header, first: first.slice(0, PREVIEW_ROWS), rowCount, warnings, questions }
}

const JSON_FILE = "it is JSON, not a table of rows and columns; turn it into CSV first, with one row for each object"

/** Warns about a title above the header, as spreadsheets have it: the columns get no names and all become text. */
function titleAbove(row: CsvRow, width: number): string[] {
  const filled = row.filter((cell) => cell.trim() !== "")
  if (width < 2 || (filled.length > 1 && filled.length * 3 > width)) return []
  const shown = (filled[0] ?? "").slice(0, 40).toWellFormed()
  return [
    `The first row has only ${filled.length} of ${width} cells, beginning with “${shown}”: where that is a title above the names of the columns, remove the lines above the names and upload the file again.`,
  ]
}

/** Returns the formats that unambiguous columns agree on; settings from the sender come first. */
function habitsOf(columns: readonly ColumnCells[], options: CsvReading): Habits {
  return {
    decimal: options.decimal ?? agreed(columns.map(({ decimal }) => decimal)),
    dates: options.dates ?? agreed(columns.map(({ dates }) => dates)),
  }
}

function agreed<T>(ways: readonly (T | undefined)[]): T | undefined {
  const [one, ...others] = new Set(ways.filter((way) => way !== undefined))
  return others.length === 0 ? one : undefined
}
