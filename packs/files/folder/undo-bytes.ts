import {
  mkdirSync,
  openSync,
  closeSync,
  fsyncSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { fileHash } from "./folder.ts"

const MAX_BYTES = 512 * 1024 * 1024

/** Stores replaced and deleted bytes by their hash, while there is room, so that an undo can restore them. */
export interface UndoBytes {
  /** Durable when it returns, because it is called before the bytes are replaced. */
  store(bytes: Buffer): void
  get(hash: string): Buffer | undefined
}

/** Stores the bytes in a folder of Pawl, never in the project. Deletes the oldest if there are too many. */
export class UndoFolder implements UndoBytes {
  readonly #folder: string
  readonly #most: number

  constructor(folder: string, most = MAX_BYTES) {
    this.#folder = folder
    this.#most = most
  }

  store(bytes: Buffer): void {
    const path = this.#path(fileHash(bytes))
    if (this.#touch(path)) return
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const draft = `${path}.${process.pid}`
    const fd = openSync(draft, "w", 0o600)
    try {
      for (let offset = 0; offset < bytes.length;) offset += writeSync(fd, bytes, offset)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(draft, path)
    this.#settle()
    this.#tidy(path)
  }

  get(hash: string): Buffer | undefined {
    if (!/^[0-9a-f]{64}$/.test(hash)) return undefined
    try {
      const bytes = readFileSync(this.#path(hash))
      return fileHash(bytes) === hash ? bytes : undefined // incomplete or changed
    } catch {
      return undefined
    }
  }

  #path(hash: string): string {
    return join(this.#folder, hash)
  }

  /**
   * Syncs the directories, because a new name is durable only then: after a power failure the change would have no
   * undo.
   */
  #settle(): void {
    if (process.platform === "win32") return // it cannot open a directory for this
    for (const folder of [this.#folder, dirname(this.#folder)]) {
      const fd = openSync(folder, "r")
      try {
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
    }
  }

  /**
   * Renews the time of bytes that are already stored, so that they are not deleted soon. False if they are not stored.
   */
  #touch(path: string): boolean {
    try {
      utimesSync(path, new Date(), new Date())
      return true
    } catch {
      return false
    }
  }

  #tidy(newest: string): void {
    const files = readdirSync(this.#folder).flatMap((name) => {
      const path = join(this.#folder, name)
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat ? [{ path, size: stat.size, at: stat.mtimeMs }] : []
    })
    let total = files.reduce((sum, { size }) => sum + size, 0)
    for (const { path, size } of files.sort((a, b) => a.at - b.at)) {
      if (total <= this.#most) return
      if (path === newest) continue
      unlinkSync(path)
      total -= size
    }
  }
}
