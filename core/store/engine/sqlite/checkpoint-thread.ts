import { DatabaseSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"

const db = new DatabaseSync(workerData as string, { timeout: 1000 })
db.exec("PRAGMA synchronous = FULL")

/**
 * Writes the write-ahead log into the database: first as much as possible while the writer works, then the rest while
 * the writer is blocked for a moment, so that the log restarts.
 */
parentPort?.on("message", () => {
  try {
    db.exec("PRAGMA wal_checkpoint(PASSIVE)")
    db.exec("PRAGMA wal_checkpoint(RESTART)")
  } finally {
    parentPort?.postMessage("done")
  }
})
