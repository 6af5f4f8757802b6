import { parentPort, workerData } from "node:worker_threads"
import type { Operation } from "./operations.ts"
import { openConnection, type SqliteSettings } from "./sqlite-connection.ts"
import { SqliteOperations } from "./sqlite-operations.ts"

/** The writer thread: takes a batch, commits it, says what became of each operation. */
const operations = new SqliteOperations(openConnection(workerData as SqliteSettings))

parentPort?.on("message", (batch: Operation[]) => {
  try {
    parentPort?.postMessage({ outcomes: operations.applyAll(batch) })
  } catch (error) {
    parentPort?.postMessage({ failed: error })
  }
})
parentPort?.postMessage("ready")
