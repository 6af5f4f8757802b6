import type { DatabaseSync } from "node:sqlite"
import { readJson } from "../../../core/program.ts"

/**
 * Notes about a table that was created from a file. They are a comment in its CREATE TABLE statement, so that they move
 * with the file and no change of rows affects them.
 */
export interface TableNotes {
  /** Warnings about the whole table. */
  readonly warnings: readonly string[]
  readonly columns: readonly ColumnNotes[]
}

interface ColumnNotes {
  readonly name: string
  readonly note?: string | undefined
  readonly warnings: readonly string[]
}

const MARK = "/* pawl: "
/** The most characters, because a reader does not accept longer statements. */
const MAX = 32_000
/** The most characters of a statement with such a comment. A longer one was not written by us. */
const READ = 8 * MAX
/** Maximum characters of a warning. */
const LONGEST = 2000
/** At most this many notes are added to a result. */
const TOLD = 10

/** The comment for a statement; empty without notes. */
export function toComment({ warnings, columns }: TableNotes): string {
  const noted = columns.filter((column) => column.note !== undefined || column.warnings.length > 0)
  if (warnings.length === 0 && noted.length === 0) return ""
  // Warnings that do not fit are about columns far to the right.
  for (let count = noted.length; ; count = Math.floor(count / 2)) {
    const rest = count < noted.length ? ["This table has more unusual values."] : []
    const notes = { warnings: [...warnings, ...rest], columns: noted.slice(0, count) }
    const json = JSON.stringify(notes).replaceAll("*/", "*\\/")
    if (json.length <= MAX) return `${MARK}${json} */`
    if (count === 0) return ""
  }
}

/** Notes by table name in lower case. Other comments are ignored. */
export function readNotes(db: DatabaseSync): ReadonlyMap<string, TableNotes> {
  const rows = db
    .prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND length(sql) <= ? AND instr(sql, ?) > 0 LIMIT 100",
    )
    .all(READ, MARK) as { name: string; sql: string }[]
  return new Map(
    rows.flatMap(({ name, sql }) => {
      const notes = parsed(sql)
      return notes ? [[name.toLowerCase(), notes] as const] : []
    }),
  )
}

function parsed(sql: string): TableNotes | undefined {
  const start = sql.lastIndexOf(MARK) + MARK.length
  try {
    const notes = readJson(sql.slice(start, sql.indexOf(" */", start)))
    return isNotes(notes) ? notes : undefined
  } catch {
    return undefined
  }
}

// Written by hand: loading a schema library would slow down the start of every reading process.
const isNotes = (notes: unknown): notes is TableNotes =>
  isObject(notes) && isTexts(notes.warnings) && Array.isArray(notes.columns) && notes.columns.every(isColumn)
const isColumn = (column: unknown): boolean =>
  isObject(column) &&
  typeof column.name === "string" &&
  (column.note === undefined || typeof column.note === "string") &&
  isTexts(column.warnings)
const isTexts = (texts: unknown): boolean =>
  Array.isArray(texts) && texts.every((text) => typeof text === "string" && text.length <= LONGEST)
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** Collects the columns that a statement reads, as SQLite reports them while it compiles it. */
export class ReadColumns {
  readonly #read = new Map<string, Set<string>>()

  see(table: string | null, column: string | null): void {
    const name = table?.toLowerCase() ?? ""
    const columns = this.#read.get(name) ?? new Set()
    this.#read.set(name, columns.add(column?.toLowerCase() ?? ""))
  }

  /** Warnings for readers of the result. */
  warningsIn(notes: ReadonlyMap<string, TableNotes>): string[] {
    const all = [...this.#read].flatMap(([table, columns]) => {
      const { warnings = [], columns: noted = [] } = notes.get(table) ?? {}
      const touched = noted.filter(({ name }) => columns.has(name.toLowerCase()))
      return [...warnings, ...touched.flatMap(({ name, warnings }) => warnings.map((each) => `${name}: ${each}`))]
    })
    const more = all.length - TOLD
    return more > 0 ? [...all.slice(0, TOLD), `And ${more} more; the preview of the file tells them.`] : all
  }
}
