import { closeSync } from "node:fs"
import { constants, DatabaseSync } from "node:sqlite"
import type { SqliteJob, SqliteOutcome } from "./job.ts"
import {
  addressOf,
  dropCopy,
  openFiles,
  openedOnly,
  openFile,
  type SqliteFile,
  stateOf,
  type OpenMode,
  openModeOf,
} from "./file.ts"
import { introspectSqlite } from "./introspect.ts"
import { readRows } from "./rows.ts"
import { authorize } from "./rules.ts"
import { ReadColumns, readNotes, type TableNotes } from "./table-notes.ts"

const CHANGED = "another program keeps changing the file; try again"

/** Runs in a separate process, which its parent ends if it takes too long. Leaves no files. */
export function runSqliteJob(job: SqliteJob, scratch: string): SqliteOutcome {
  for (let attempt = 0; attempt < 3; attempt++) {
    const file = openFile(job.path, job.folders)
    if (!file) return { type: "no_file" }
    try {
      const outcome = runOnce(job, file, scratch)
      if (outcome) return outcome
    } catch (error) {
      return toOutcome(error)
    } finally {
      // Last: closing any descriptor of a file releases all locks of this process on it, also SQLite's.
      closeSync(file.descriptor)
    }
  }
  return { type: "failed", problem: CHANGED }
}

/** Undefined if the file changed while it was read as immutable. */
function runOnce(job: SqliteJob, file: SqliteFile, scratch: string): SqliteOutcome | undefined {
  const way = openModeOf(file)
  const before = { files: openFiles(), state: stateOf(file) }
  const db = openReadOnly(job, addressOf(file, way, scratch))
  try {
    // Checked twice: when the file is open, and when its log is open, too.
    if (way !== "copied" && !openedOnly(file, before.files)) return { type: "no_file" }
    db.prepare("SELECT count(*) FROM sqlite_schema").get()
    if (way !== "copied" && !openedOnly(file, before.files)) return { type: "no_file" }
    const outcome = perform(db, job)
    return changed(file, way, before.state) ? undefined : outcome
  } catch (error) {
    if (changed(file, way, before.state)) return undefined
    throw error
  } finally {
    db.close()
    if (way === "copied") dropCopy(scratch)
  }
}

const changed = (file: SqliteFile, way: OpenMode, before: string) => way === "still" && stateOf(file) !== before

function openReadOnly({ limits: { bytes }, guards: { readOnly } }: SqliteJob, address: string): DatabaseSync {
  const db = new DatabaseSync(readOnly ? address : address.replace("mode=ro", "mode=rw"), {
    readOnly,
    // Permits strings in double quotation marks, as other programs do: `WHERE name = "Ada"`.
    enableDoubleQuotedStringLiterals: true,
    enableForeignKeyConstraints: false,
    allowExtension: false,
    defensive: true,
    timeout: 1000,
    limits: {
      length: bytes,
      sqlLength: 200_000,
      exprDepth: 500,
      column: 1000,
      compoundSelect: 500,
      functionArg: 127,
      attach: 0,
      likePatternLength: 5000,
      // For internal queries of full-text indexes. Statements with parameters were refused before.
      variableNumber: 100,
      triggerDepth: 10,
    },
  })
  // No temporary files: a query that needs more memory than this process has fails.
  db.exec("PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
  if (readOnly) db.exec("PRAGMA query_only = ON")
  return db
}

function perform(db: DatabaseSync, { work, limits, guards }: SqliteJob): SqliteOutcome {
  const notes = work.type === "query" ? readNotes(db) : new Map<string, TableNotes>()
  const read = new ReadColumns()
  if (guards.authorizer)
    db.setAuthorizer((action, first, second) => {
      if (notes.size > 0 && action === constants.SQLITE_READ) read.see(first, second)
      return authorize(action, first, second)
    })
  switch (work.type) {
    case "query": {
      const outcome = readRows(db.prepare(work.sql), limits)
      const warnings = read.warningsIn(notes)
      if (outcome.type !== "answer" || warnings.length === 0) return outcome
      return { type: "answer", answer: { ...outcome.answer, warnings } }
    }
    case "introspect":
      return { type: "schema", schema: introspectSqlite(db) }
    case "probe":
      return { type: "fine" }
  }
}

const REFUSED = /not authorized|authorization denied|attempt to write a readonly database/

function toOutcome(error: unknown): SqliteOutcome {
  const { message } = error as Error
  return { type: REFUSED.test(message) ? "refused" : "failed", problem: message.slice(0, 2000) }
}
