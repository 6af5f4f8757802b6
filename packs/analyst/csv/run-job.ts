import { DatabaseSync } from "node:sqlite"
import { pipeline } from "node:stream/promises"
import { CsvError, type InfoRecord, parse } from "csv-parse"
import type { CsvPreview } from "../../../core/pack.ts"
import { findDelimiter } from "./delimiter.ts"
import { type CsvJob, type CsvOutcome, CsvRefusal } from "./job.ts"
import { type CsvText, readText } from "./text.ts"
import { type EachRow, type FileAnalysis, analyzeColumns, type CsvRow } from "./analyze-columns.ts"
import { toWire } from "../sqlite/values.ts"
import { toComment } from "../sqlite/table-notes.ts"

/**
 * Runs in a separate process, which its parent ends if it takes too long. Reads the file twice, because a column's type
 * is known only after its last cell.
 */
export async function runCsvJob(job: CsvJob): Promise<CsvOutcome> {
  try {
    const options = job.options ?? {}
    const text = await readText(job.file, options.encoding)
    const { delimiter, skips } = await findDelimiter(text.open(), job.isTabSeparated ? "tab" : options.delimiter)
    const each: EachRow = (see) => eachRow({ job, text, delimiter, skips }, see)
    const look = await analyzeColumns(each, options, job.limits)
    const warnings = [...text.warnings, ...look.warnings]
    if (job.to !== null) await write(job, { ...look, warnings }, each)
    return { type: "read", preview: toPreview({ ...look, warnings }, delimiter) }
  } catch (error) {
    if (error instanceof CsvRefusal) return { type: "refused", problem: error.message }
    if (error instanceof CsvError) return { type: "refused", problem: problemOf(error, job) }
    throw error
  }
}

function toPreview(
  { names, types, first, rowCount, warnings, questions }: FileAnalysis,
  delimiter: string,
): CsvPreview {
  return {
    columns: types.map(({ declared, note }, index) => {
      return { name: names[index] ?? "", type: declared, ...(note === undefined ? {} : { note }) }
    }),
    rows: first.map((row) => types.map((type, index) => toWire(type.toValue(row[index])))),
    delimiter,
    rowCount,
    warnings: [...warnings, ...types.flatMap((type, index) => type.warnings.map((each) => `${names[index]}: ${each}`))],
    questions: [...questions],
  }
}

interface Reading {
  readonly job: CsvJob
  readonly text: CsvText
  readonly delimiter: string
  /** The number of lines at the start that are not rows. */
  readonly skips: number
}

function eachRow({ job, text, delimiter, skips }: Reading, see: (row: CsvRow, line: number) => void) {
  const parser = parse({
    delimiter,
    from_line: skips + 1,
    bom: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: job.limits.rowBytes,
    on_record: (row: string[], { lines }: InfoRecord) => {
      see(row, lines)
      return null // the value is not stored
    },
  })
  return pipeline(text.open(), parser.resume())
}

/**
 * Writes the database. The caller makes it atomic: it syncs the file and moves it to its path after this returns,
 * because a process with Node's permission model cannot sync.
 */
async function write(
  { to, table }: CsvJob,
  { names, types, header, warnings }: FileAnalysis,
  each: EachRow,
): Promise<void> {
  const db = new DatabaseSync(to ?? "")
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
  const columns = names.map((name, index) => `"${name}" ${types[index]?.declared ?? "TEXT"}`)
  const noted = types.map((type, index) => ({
    name: names[index] ?? "",
    note: type.note,
    warnings: [...type.warnings],
  }))
  const comment = toComment({ warnings: [...warnings], columns: noted })
  db.exec(`CREATE TABLE "${table}" (${columns.join(", ")} ${comment}); BEGIN`)
  const insert = db.prepare(`INSERT INTO "${table}" VALUES (${names.map(() => "?").join(", ")})`)
  let isFirst = header
  await each((row) => {
    if (isFirst) isFirst = false
    else insert.run(...types.map((type, index) => type.toValue(row[index])))
  })
  db.exec("COMMIT")
  db.close()
}

function problemOf({ code, message, lines }: CsvError & { lines?: number }, { limits }: CsvJob): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return `a quote is not closed: ${message.replace(/^.*: /, "")}`
  if (code === "CSV_MAX_RECORD_SIZE")
    return `the row at line ${lines ?? "?"} is longer than ${limits.rowBytes} bytes, perhaps because a quote is not closed`
  return message.slice(0, 300)
}
