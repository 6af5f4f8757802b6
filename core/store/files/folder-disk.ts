import { open, rename, rm } from "node:fs/promises"

/** What a folder of files does to a disk, one step each: a process may die before and after any of them. */
export interface FolderDisk {
  /** Makes a file that was not there, for nobody else to read; its bytes are on the disk when it resolves. */
  create(path: string, bytes: Uint8Array): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Makes names durable. */
  sync(folder: string): Promise<void>
  remove(path: string): Promise<void>
}

const CANNOT_SYNC = new Set(["EINVAL", "EISDIR", "ENOTSUP", "EPERM"])

export const folderDisk: FolderDisk = {
  async create(path, bytes) {
    // "wx" follows no link that somebody has put there.
    const file = await open(path, "wx", 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
  },
  rename: (from, to) => rename(from, to),
  async sync(folder) {
    try {
      const handle = await open(folder, "r")
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
    } catch (error) {
      // A system that has no such thing; one whose disk fails must not be taken for it.
      if (!CANNOT_SYNC.has((error as NodeJS.ErrnoException).code ?? "")) throw error
    }
  },
  remove: (path) => rm(path, { force: true }),
}
