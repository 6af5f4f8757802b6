import { DatabaseSync } from "node:sqlite"
import { workerData } from "node:worker_threads"

const { file, words } = workerData as { file: string; words: boolean }
const PATIENCE_MS = 10_000
const RETRY_MS = 20

const db = new DatabaseSync(file, { timeout: PATIENCE_MS })
db.exec("PRAGMA synchronous = FULL")
db.exec("PRAGMA secure_delete = ON")
db.exec("PRAGMA wal_autocheckpoint = 0")
try {
  if (words) {
    for (const index of ["passage_words", "passage_grams"])
      db.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`)
    // A file from before `secure_delete` was set holds in its free places what was deleted then. Once.
    if (pragma("user_version") === 0) db.exec("VACUUM; PRAGMA user_version = 1")
  }
  foldIn()
} finally {
  db.close()
}

/** The log too holds what was: folded in, and cut to nothing. Whoever reads in this moment is waited for. */
function foldIn(): void {
  const until = Date.now() + PATIENCE_MS
  while (pragma("wal_checkpoint(TRUNCATE)") !== 0) {
    if (Date.now() > until) throw new Error("a long-running reader prevents the database's log from being truncated")
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
  }
}

/** The first value that it answers with. */
function pragma(name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}
