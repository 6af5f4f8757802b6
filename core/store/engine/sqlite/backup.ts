import { open, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import { siblingScript } from "../../../shared/processes/thread.ts"
import { alreadyExists, exists, publishFile, syncFolder } from "../publish-file.ts"

export interface Backup {
  /** The file of the SQLite database, in use or not. */
  readonly from: string
  /** The path of the copy, which must not exist yet. */
  readonly to: string
  /** Reports the progress in bytes; the copy may turn out smaller. */
  progress?(bytes: number, of: number): void
  /** Called before the copy gets its name, to write files that belong to it. If it rejects, there is no backup. */
  beforePublish?(copy: string): Promise<void>
}

const PROGRESS_EVERY_MS = 500

/**
 * Makes a consistent copy of a database that others write to. It gets its name only when it is complete, checked and
 * durable, so a killed backup leaves nothing that could pass for one. Rejects with `EEXIST` rather than overwrite.
 * Returns its size.
 */
export async function backUp({ from, to, progress, beforePublish }: Backup): Promise<number> {
  if (await exists(to)) throw alreadyExists(to)
  const partial = `${to}.${process.pid}.partial`
  // Created here, because SQLite would create it readable for others.
  const file = await open(partial, "wx", 0o600)
  try {
    await copy(from, partial, progress)
    await file.sync()
    await beforePublish?.(partial)
    await publishFile(partial, to)
    await syncFolder(dirname(to))
    return (await file.stat()).size
  } finally {
    await file.close()
    await rm(partial, { force: true })
  }
}

async function copy(from: string, to: string, progress: Backup["progress"]): Promise<void> {
  const worker = new Worker(siblingScript(import.meta.url, "backup-thread"), { workerData: { from, to } })
  let all = 0
  const timer = setInterval(() => {
    if (all > 0 && progress)
      void stat(to).then(
        ({ size }) => progress(size, all),
        () => {},
      )
  }, PROGRESS_EVERY_MS)
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on("message", ({ bytes }: { bytes: number }) => (all = bytes))
      worker.on("error", reject)
      worker.on("exit", (code) =>
        code === 0 ? resolve() : reject(new Error(`the copy was interrupted (exit code ${code})`)),
      )
    })
  } finally {
    clearInterval(timer)
  }
}
