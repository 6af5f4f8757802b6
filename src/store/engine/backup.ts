import { access, link, open, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import { besideModule } from "../../children/beside-module.ts"

export interface Backup {
  /** The file of the SQLite database, in use or not. */
  readonly from: string
  /** Where the copy goes; there must be nothing yet. */
  readonly to: string
  /** Told now and then how much has been written, and of how much; the copy may come out smaller. */
  progress?(bytes: number, of: number): void
}

const TELL_EVERY_MS = 500

/**
 * Makes a consistent copy of a database that others are writing to. It has its name only when it is whole, checked and
 * on the disk: a backup that was killed leaves nothing that could pass for one. Rejects with `EEXIST` rather than
 * overwrite. Returns its size.
 */
export async function backUp({ from, to, progress }: Backup): Promise<number> {
  if (await exists(to)) throw existing(to)
  const partial = `${to}.${process.pid}.partial`
  // Made here, empty, because SQLite would give it the usual permissions: what people said is nobody else's business.
  const file = await open(partial, "wx", 0o600)
  try {
    await copy(from, partial, progress)
    await file.sync()
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
        code === 0 ? resolve() : reject(new Error(`the copying was broken off (exit code ${code})`)),
      )
    })
  } finally {
    clearInterval(telling)
  }
}

/** A second name for the same file: unlike renaming, this fails when somebody else has made the target meanwhile. */
async function giveName(partial: string, to: string): Promise<void> {
  try {
    await link(partial, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error
    if (await exists(to)) throw existing(to) // a file system without second names
    await rename(partial, to)
  }
}

/** The name of a file is durable when its folder is. Not every system lets a folder be opened. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

const existing = (path: string) => Object.assign(new Error(`${path} exists already`), { code: "EEXIST" })
