import { closeSync, openSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

// Small pages: a commit writes whole pages, and the rows of a turn are small. Measured in bench/.
const PAGE_BYTES = 2048

/** One connection with our settings. It never waits for another process: whoever finds the file locked comes again. */
export function openConnection(file: string): DatabaseSync {
  if (file !== ":memory:") createPrivate(file)
  const db = new DatabaseSync(file, { timeout: 0 })
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  inTurn(() => db.exec("PRAGMA journal_mode = WAL"))
  inTurn(() => markNew(db))
  db.exec("PRAGMA synchronous = FULL")
  db.exec("PRAGMA wal_autocheckpoint = 0") // it would fsync on this thread; checkpoint.ts does it on another
  db.exec("PRAGMA foreign_keys = ON")
  // What is deleted, changed or moved is overwritten: erased is gone. Always on, because a row that was queued and taken,
  // or a note that was edited, leaves its words in the file long before its person goes.
  db.exec("PRAGMA secure_delete = ON")
  return db
}

/** Whether a file was ever written to without `secure_delete`: scrub-thread.ts makes such a one anew, once. */
function markNew(db: DatabaseSync): void {
  const tables = db.prepare("SELECT count(*) AS n FROM sqlite_master").get()
  if (tables?.n === 0) db.exec("PRAGMA user_version = 1")
}

/** Another process may be opening the same new file: then its lock is held for a moment. */
function inTurn(open: () => void): void {
  const deadline = Date.now() + 5000
  for (;;) {
    try {
      return open()
    } catch (error) {
      if (!isLocked(error) || Date.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) // nothing else runs yet that could be held up
    }
  }
}

/** Whether SQLite says that another connection is in the way; then nothing was done. */
export function isLocked(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5 || /database is (locked|busy)/.test((error as Error).message)
}

/**
 * What people say is nobody else's to read, whatever the umask; the log takes the mode of the file. One that is there is not
 * opened: closing it again would let go of every lock that SQLite holds on it in this process. Whatever else is wrong with it,
 * SQLite says.
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600))
  } catch {}
}
