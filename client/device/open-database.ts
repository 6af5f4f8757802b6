import { closeSync, mkdirSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { failure } from "../../core/protocol/errors.ts"
import { tableNames, workspaceTables } from "../../core/protocol/workspace-tables.ts"

/** Incremented when the format changes in a way that an older device would misread. */
const VERSION = 1
/** How long to wait for another program that writes to the file. */
const BUSY_MS = 5000

const NO_SQLITE = `A device needs node:sqlite, which Node ${process.versions.node} does not have. Use Node 24 or newer.`

/**
 * Opens a device's file and updates its tables. A committed outcome survives a kill and, if the disk does not lie, a power
 * failure.
 */
export function openDatabase(file: string): DatabaseSync {
  if (typeof DatabaseSync !== "function") throw new Error(NO_SQLITE)
  if (file !== ":memory:") {
    mkdirSync(dirname(file), { recursive: true })
    createPrivate(file)
  }
  const db = new DatabaseSync(file, { timeout: BUSY_MS })
  try {
    db.exec("PRAGMA journal_mode = WAL")
    db.exec("PRAGMA synchronous = FULL")
    inTransaction(db, () => {
      refuseNewer(db, file)
      db.exec(OWN_TABLES)
      for (const name of tableNames) growTable(db, name)
      addColumns(db, "pawlVector", ["title"]) // older files lack it
      db.exec(`PRAGMA user_version = ${VERSION}`)
    })
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens a file for one device process. Two would take the device's name from each other forever. */
export function openOwned(file: string): { readonly db: DatabaseSync; close(): void } {
  const db = openDatabase(file)
  const lock = file === ":memory:" ? undefined : lockFile(`${file}-owner`)
  if (lock === "taken") {
    db.close()
    throw failure("device_in_use", { file })
  }
  return {
    db,
    close() {
      db.close()
      lock?.close()
    },
  }
}

/**
 * Creates a new file readable by its owner only. An existing file is not opened here, because closing it would release
 * SQLite's locks on it in this process; SQLite reports anything else that is wrong.
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600))
  } catch {}
}

/** A SQLite lock on an empty file: the operating system releases it when its holder ends in any way. */
function lockFile(file: string): DatabaseSync | "taken" {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
    return lock
  } catch {
    lock.close()
    return "taken"
  }
}

/** Runs `work` in a transaction, or as part of an open one. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work()
  // Immediate: a transaction that upgrades from read to write fails at once if another program writes.
  db.exec("BEGIN IMMEDIATE")
  try {
    const result = work()
    db.exec("COMMIT")
    return result
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK")
    throw error
  }
}

/** `pawlCall`: the ledger. `pawlVector`: the vectors of notes. `pawlDevice`: this device's id. */
const OWN_TABLES = `
  CREATE TABLE IF NOT EXISTS "pawlCall" (id TEXT PRIMARY KEY, state TEXT NOT NULL, outcome TEXT, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS "pawlCallAt" ON "pawlCall" (at);
  CREATE TABLE IF NOT EXISTS "pawlVector" (id TEXT PRIMARY KEY, projectId TEXT, content TEXT NOT NULL, vector BLOB NOT NULL, title TEXT);
  CREATE TABLE IF NOT EXISTS "pawlDevice" (id TEXT PRIMARY KEY);
`

function refuseNewer(db: DatabaseSync, file: string): void {
  const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number }
  if (found > VERSION)
    throw new Error(
      `${file} was written by a newer Pawl (format ${found}, this one knows ${VERSION}). Update this one.`,
    )
}

/** Creates a table or adds missing columns. Values are validated before they are written, not by SQLite. */
function growTable(db: DatabaseSync, name: keyof typeof workspaceTables): void {
  const { row, references, days = {} } = workspaceTables[name]
  db.exec(`CREATE TABLE IF NOT EXISTS "${name}" (id TEXT PRIMARY KEY NOT NULL)`)
  addColumns(db, name, [...Object.keys(row.shape), ...Object.values(days)])
  for (const column of Object.keys(references)) {
    db.exec(`CREATE INDEX IF NOT EXISTS "${name}_${column}" ON "${name}" ("${column}")`)
  }
}

function addColumns(db: DatabaseSync, table: string, names: readonly string[]): void {
  const columns = db.prepare(`PRAGMA table_info("${table}")`).all() as { name: string }[]
  for (const name of names) {
    if (!columns.some((there) => there.name === name)) db.exec(`ALTER TABLE "${table}" ADD COLUMN "${name}"`)
  }
}
