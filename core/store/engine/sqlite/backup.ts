import { open, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import { besideModule } from "../../../shared/processes/thread.ts"
import { existing, exists, giveName, syncFolder } from "../new-file.ts"

export interface Backup {
  /** The file of the SQLite database, in use or not. */
  readonly from: string
  /** Where the copy goes; there must be nothing yet. */
  readonly to: string
  /** Told now and then how much has been written, and of how much; the copy may come out smaller. */
  progress?(bytes: number, of: number): void
  /** Told of the copy before it has its name: what belongs beside it is there first, or there is no backup. */
  beside?(copy: string): Promise<void>
}

const TELL_EVERY_MS = 500

/**
 * Makes a consistent copy of a database that others are writing to. It has its name only when it is whole, checked and
 * on the disk: a backup that was killed leaves nothing that could pass for one. Rejects with `EEXIST` rather than
 * overwrite. Returns its size.
 */
export async function backUp({ from, to, progress, beside }: Backup): Promise<number> {
  if (await exists(to)) throw existing(to)
  const partial = `${to}.${process.pid}.partial`
  // Made here, empty, because SQLite would give it the usual permissions: what people said is nobody else's business.
  const file = await open(partial, "wx", 0o600)
  try {
    await copy(from, partial, progress)
    await file.sync()
    await beside?.(partial)
    await giveName(partial, to)
    await syncFolder(dirname(to))
    return (await file.stat()).size
  } finally {
    await file.close()
    await rm(partial, { force: true })
  }
}

async function copy(from: string, to: string, progress: Backup["progress"]): Promise<void> {
  const worker = new Worker(besideModule(import.meta.url, "backup-thread"), { workerData: { from, to } })
  let all = 0
  const telling = setInterval(() => {
    if (all > 0 && progress)
      void stat(to).then(
        ({ size }) => progress(size, all),
        () => {},
      )
  }, TELL_EVERY_MS)
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on("message", ({ bytes }: { bytes: number }) => (all = bytes))
      worker.on("error", reject)
      worker.on("exit", (code) =>
        code === 0 ? resolve() : reject(new Error(`the copy was interrupted (exit code ${code})`)),
      )
    })
  } finally {
    clearInterval(telling)
  }
}
