import { closeSync, readSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { changeRows, RefusedChange, rowsNow } from "./change-rows.ts"
import type { SqliteChangeJob, SqliteChangeOutcome, SqliteMark, SqliteWord } from "./change-job.ts"
import { openFile, openFiles, openedOnly, type SqliteFile, openModeOf } from "./file.ts"

/** How long to wait for another program that writes. */
const BUSY_MS = 2000
const COUNTER_AT = 24
/** SQLite's code for a database at its maximum size. */
const SQLITE_FULL = 13
const TOO_LARGE =
  "the databases made of your uploads would take more than they may together. Delete rows or uploads that you no longer need first"

/**
 * Runs in a separate process. A change stays uncommitted, with the file locked, until `word` decides it; a process that
 * is killed before has changed nothing.
 */
export async function runSqliteChange(
  job: SqliteChangeJob,
  say: (outcome: SqliteChangeOutcome) => void,
  word: () => Promise<SqliteWord>,
): Promise<SqliteChangeOutcome> {
  const file = openFile(job.path, job.folders)
  if (!file) return { type: "no_file" }
  let db: DatabaseSync | undefined
  try {
    const before = openFiles()
    db = openForChange(job, file)
    if (!openedOnly(file, before)) return { type: "no_file" }
    // Locks first: a transaction of another process ends before anything is read, and no other process writes from here
    // on.
    db.exec("BEGIN IMMEDIATE")
    if (!openedOnly(file, before)) return { type: "no_file" }
    const counter = counterOf(file)
    if (job.work.type === "look")
      return { type: "seen", told: whatBecame(db, job.work.mark, { counter, path: file.path }) }
    const { change, mark } = changeRows(db, job.work.sql, job.name ?? file.path)
    say({ type: "changed", change, mark: { ...mark, counter, file: file.path } })
    db.exec((await word()) === "commit" ? "COMMIT" : "ROLLBACK")
    return { type: "ended" }
  } catch (error) {
    if (job.mostBytes !== undefined && (error as { errcode?: number }).errcode === SQLITE_FULL)
      return { type: "refused", problem: TOO_LARGE }
    return toOutcome(error)
  } finally {
    db?.close() // rolls an undecided change back
    // Last: closing any descriptor of a file releases all locks of this process on it, also SQLite's.
    closeSync(file.descriptor)
  }
}

function openForChange({ limits: { bytes }, mostBytes }: SqliteChangeJob, file: SqliteFile): DatabaseSync {
  const db = new DatabaseSync(`${pathToFileURL(file.path).href}?mode=rw`, {
    enableDoubleQuotedStringLiterals: true,
    enableForeignKeyConstraints: true,
    allowExtension: false,
    defensive: true,
    timeout: BUSY_MS,
    limits: { length: bytes, sqlLength: 200_000, exprDepth: 500, attach: 0, variableNumber: 10, triggerDepth: 10 },
  })
  // The file is written only at the end, so a process that ends earlier leaves no journal to roll back.
  db.exec(`PRAGMA cache_spill = OFF; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;
    PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON`)
  if (mostBytes !== undefined) {
    const { page_size: pageSize } = db.prepare("PRAGMA page_size").get() as { page_size: number }
    // A database beyond the limit may still be changed, but not grow.
    db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(mostBytes / pageSize))}`)
  }
  return db
}

/** SQLite's count of the transactions that changed the file. */
function counterOf(file: SqliteFile): number | null {
  if (openModeOf(file) !== "locked") return null
  const bytes = Buffer.alloc(4)
  readSync(file.descriptor, bytes, 0, 4, COUNTER_AT)
  return bytes.readUInt32BE()
}

interface Looked {
  readonly counter: number | null
  readonly path: string
}

function whatBecame(
  db: DatabaseSync,
  mark: SqliteMark,
  { counter, path }: Looked,
): "applied" | "not-applied" | "unknown" {
  if (mark.file !== undefined && mark.file !== path) return "unknown"
  if (mark.counter === null || counter === null) return "unknown"
  if (counter === mark.counter) return "not-applied"
  if (counter !== (mark.counter + 1) % 2 ** 32 || mark.before === mark.after) return "unknown"
  return rowsNow(db, mark) === mark.after ? "applied" : "not-applied"
}

const REFUSED = /not authorized|authorization denied|prohibited/

function toOutcome(error: unknown): SqliteChangeOutcome {
  const { message } = error as Error
  const refused = error instanceof RefusedChange || REFUSED.test(message)
  return { type: refused ? "refused" : "failed", problem: message.slice(0, 2000) }
}
