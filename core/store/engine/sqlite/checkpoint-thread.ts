import { DatabaseSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"

const db = new DatabaseSync(workerData as string, { timeout: 1000 })
db.exec("PRAGMA synchronous = FULL")

/**
 * Folds the write-ahead log into the database: first as much as can be done beside the writer, then, with the writer
 * kept out for a moment, the little that has come since, so that the log begins anew.
 */
parentPort?.on("message", () => {
  try {
    db.exec("PRAGMA wal_checkpoint(PASSIVE)")
    db.exec("PRAGMA wal_checkpoint(RESTART)")
  } finally {
    parentPort?.postMessage("done")
  }
})
