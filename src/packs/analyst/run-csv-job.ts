import { DatabaseSync } from "node:sqlite"
import { pipeline } from "node:stream/promises"
import { CsvError, type InfoRecord, parse } from "csv-parse"
import { columnNames } from "./csv-columns.ts"
import { findDelimiter } from "./csv-delimiter.ts"
import { type CsvJob, type CsvOutcome, CsvRefusal, PREVIEW_ROWS } from "./csv-job.ts"
import { type CsvText, readText } from "./csv-text.ts"
import { ColumnType } from "./csv-types.ts"
import { toWire } from "./sqlite-values.ts"

/** A file as far as one look at all of it tells. */
interface Look {
  readonly names: readonly string[]
  readonly types: readonly ColumnType[]
  readonly first: readonly (readonly string[])[]
  readonly rowCount: number
  readonly warnings: readonly string[]
}

/**
 * Runs in a process of its own, which whoever started it ends when it takes too long. The file is read twice: what a
 * column is can only be said when its last cell was seen.
 */
export async function runCsvJob(job: CsvJob): Promise<CsvOutcome> {
  try {
    const text = await readText(job.file)
    const delimiter = job.tabs ? "\t" : await findDelimiter(text.open())
    const look = await lookThrough(job, text, delimiter)
    if (job.to !== null) await write(job, look, (row) => eachRow({ job, text, delimiter }, row))
    const columns = look.names.map((name, index) => ({ name, type: look.types[index]?.declared ?? "TEXT" }))
    const rows = look.first.map((row) => look.types.map((type, index) => toWire(type.toValue(row[index]))))
    const warnings = [...text.warnings, ...look.warnings]
    return { type: "read", preview: { columns, rows, delimiter, rowCount: look.rowCount, warnings } }
  } catch (error) {
    if (error instanceof CsvRefusal) return { type: "refused", problem: error.message }
    if (error instanceof CsvError) return { type: "refused", problem: problemOf(error, job) }
    throw error
  }
}

async function lookThrough(job: CsvJob, text: CsvText, delimiter: string): Promise<Look> {
  const { limits } = job
  const types: ColumnType[] = []
  const first: (readonly string[])[] = []
  let header: readonly string[] | undefined
  let rowCount = 0
  let [short, long] = [0, 0]
  await eachRow({ job, text, delimiter }, (row, line) => {
    if (row.length > limits.columns)
      throw new CsvRefusal(`line ${line} has ${row.length} cells, more than ${limits.columns}`)
    while (types.length < row.length) types.push(new ColumnType())
    if (!header) return void (header = row)
    rowCount++
    if (rowCount > limits.rows) throw new CsvRefusal(`it has more than ${limits.rows} rows`)
    if (row.length < header.length) short++
    if (row.length > header.length) long++
    for (const [index, cell] of row.entries()) types[index]?.see(cell)
    if (first.length < PREVIEW_ROWS) first.push(row)
  })
  if (!header) throw new CsvRefusal("there is nothing in it")
  const warnings = [
    ...(short > 0 ? [`${short} row(s) have fewer cells than the first; what is missing is empty.`] : []),
    ...(long > 0 ? [`${long} row(s) have more cells than the first; they are in columns without a name.`] : []),
    ...(rowCount === 0 ? ["There is only the row with the names of the columns."] : []),
  ]
  return { names: columnNames(header, types.length), types, first, rowCount, warnings }
}

interface Reading {
  readonly job: CsvJob
  readonly text: CsvText
  readonly delimiter: string
}

function eachRow({ job, text, delimiter }: Reading, see: (row: readonly string[], line: number) => void) {
  const parser = parse({
    delimiter,
    bom: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: job.limits.rowBytes,
    on_record: (row: string[], { lines }: InfoRecord) => {
      see(row, lines)
      return null // nothing is kept
    },
  })
  return pipeline(text.open(), parser.resume())
}

/**
 * Makes the database. Whole or not at all is its caller's: the file gets its place only when this has returned and it is on the
 * disk, which a process behind Node's permission model cannot ask for.
 */
async function write(
  { to, table }: CsvJob,
  { names, types }: Look,
  each: (see: (row: readonly string[]) => void) => Promise<void>,
): Promise<void> {
  const db = new DatabaseSync(to ?? "")
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
  const columns = names.map((name, index) => `"${name}" ${types[index]?.declared ?? "TEXT"}`)
  db.exec(`CREATE TABLE "${table}" (${columns.join(", ")}); BEGIN`)
  const insert = db.prepare(`INSERT INTO "${table}" VALUES (${names.map(() => "?").join(", ")})`)
  let header = true
  await each((row) => {
    if (header) header = false
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
