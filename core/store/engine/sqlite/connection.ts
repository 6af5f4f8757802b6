import { closeSync, openSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { once } from "node:events"
import type { Log } from "../../../shared/log.ts"
import { siblingScript, startThread } from "../../../shared/processes/thread.ts"

// Small pages, because a commit writes whole pages and the rows of a turn are small. Measured in bench/.
const PAGE_BYTES = 2048

/** Opens a connection with our settings. It never blocks: a caller that finds the file locked tries again later. */
export function openConnection(file: string): DatabaseSync {
  if (file !== ":memory:") createPrivate(file)
  const db = new DatabaseSync(file, { timeout: 0 })
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  retryWhileLocked(() => db.exec("PRAGMA journal_mode = WAL"))
  retryWhileLocked(() => markNew(db))
  db.exec("PRAGMA synchronous = FULL")
  db.exec("PRAGMA wal_autocheckpoint = 0") // it would fsync on this thread; checkpoint.ts uses another one
  db.exec("PRAGMA foreign_keys = ON")
  // Overwrites deleted data, so that erased text is gone. Always on, because deleted inbox rows and edited notes leave
  // text in the file long before a person is erased.
  db.exec("PRAGMA secure_delete = ON")
  return db
}

/** Marks a file as always written with `secure_delete`. scrub-thread.ts rewrites other files once. */
function markNew(db: DatabaseSync): void {
  const tables = db.prepare("SELECT count(*) AS n FROM sqlite_master").get()
  if (tables?.n === 0) db.exec("PRAGMA user_version = 1")
}

/** Retries for a moment, because another process may be opening the same new file. */
function retryWhileLocked(open: () => void): void {
  const deadline = Date.now() + 5000
  for (;;) {
    try {
      return open()
    } catch (error) {
      if (!isLocked(error) || Date.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) // nothing else runs yet that this could block
    }
  }
}

/** Whether another connection holds a lock; then nothing was done. */
export function isLocked(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5 || /database is (locked|busy)/.test((error as Error).message)
}

/**
 * Creates the file readable for its owner only, whatever the umask; the log inherits the mode. An existing file is not
 * opened, because closing it would release all locks that SQLite holds on it in this process. SQLite reports any other
 * problem.
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600))
  } catch {}
}

/**
 * Removes deleted data from the files of a SQLite database. In a thread, because it rewrites whole files and calls
 * fsync. `words` also rebuilds the full-text index, which only marks deleted rows.
 */
export async function scrub(file: string, { words }: { words: boolean }, log?: Log): Promise<void> {
  const script = siblingScript(import.meta.url, "scrub-thread")
  const worker = startThread(script, { workerData: { file, words }, log })
  const [code] = (await once(worker, "exit")) as [number] // rejects with the error of the thread
  if (code !== 0) throw new Error(`the thread that scrubs the database ended with ${code}`)
}
