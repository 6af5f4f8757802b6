import { DatabaseSync } from "node:sqlite"
import { workerData } from "node:worker_threads"

const { file, words } = workerData as { file: string; words: boolean }
const TIMEOUT_MS = 10_000
const RETRY_MS = 20

const db = new DatabaseSync(file, { timeout: TIMEOUT_MS })
db.exec("PRAGMA synchronous = FULL")
db.exec("PRAGMA secure_delete = ON")
db.exec("PRAGMA wal_autocheckpoint = 0")
try {
  if (words) {
    for (const index of ["passage_words", "passage_grams"])
      db.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`)
    // A file from before `secure_delete` was set contains deleted data in its free pages. Only once.
    if (pragma("user_version") === 0) db.exec("VACUUM; PRAGMA user_version = 1")
  }
  truncateLog()
} finally {
  db.close()
}

/** The log contains deleted data, too: it is written into the database and truncated. Waits for current readers. */
function truncateLog(): void {
  const until = Date.now() + TIMEOUT_MS
  while (pragma("wal_checkpoint(TRUNCATE)") !== 0) {
    if (Date.now() > until) throw new Error("a long-running reader prevents the database's log from being truncated")
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
  }
}

/** The first value of its result. */
function pragma(name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}
