import { open, rename, rm } from "node:fs/promises"

/** The disk operations of a folder, one step each, because a process may fail between any two of them. */
export interface FolderDisk {
  /** Creates a file that only its owner can read; durable when it resolves. */
  create(path: string, bytes: Uint8Array): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Makes names durable. */
  sync(folder: string): Promise<void>
  remove(path: string): Promise<void>
}

const CANNOT_SYNC = new Set(["EINVAL", "EISDIR", "ENOTSUP", "EPERM"])

export const folderDisk: FolderDisk = {
  async create(path, bytes) {
    // "wx" follows no links.
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
      // Some systems cannot sync a folder; an error of the disk must not be ignored.
      if (!CANNOT_SYNC.has((error as NodeJS.ErrnoException).code ?? "")) throw error
    }
  },
  remove: (path) => rm(path, { force: true }),
}
