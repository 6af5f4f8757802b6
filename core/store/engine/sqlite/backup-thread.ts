import { DatabaseSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"

const { from, to } = workerData as { from: string; to: string }

/** Copies the database as of one moment while others write, and checks the copy. */
function copy(): void {
  const db = new DatabaseSync(from, { readOnly: true, timeout: 5000 })
  const { page_count: pages, page_size: size } = {
    ...db.prepare("PRAGMA page_count").get(),
    ...db.prepare("PRAGMA page_size").get(),
  } as { page_count: number; page_size: number }
  parentPort?.postMessage({ bytes: pages * size })
  // One read transaction. The backup API starts over when another process writes in between, and would never end on a
  // busy server.
  db.prepare("VACUUM INTO ?").run(to)
  db.close()
  const made = new DatabaseSync(to, { readOnly: true })
  const [{ integrity_check: found } = {}] = made.prepare("PRAGMA integrity_check(1)").all()
  made.close()
  if (found !== "ok") throw new Error(`the copy is damaged: ${String(found)}`)
}

copy()
