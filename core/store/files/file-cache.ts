import { createHash, randomBytes } from "node:crypto"
import { constants, createReadStream } from "node:fs"
import { copyFile, mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { KeyedLock } from "../../shared/concurrency/locks.ts"
import { isId, type UserId } from "../../protocol/ids.ts"

export interface CacheOptions {
  readonly folder: string
  /** The maximum size of all files; recently used ones stay. */
  readonly maxBytes?: number
  /** How long a requested file stays, because the caller opens it by its name. */
  readonly graceMs?: number
  readonly now: () => number
}

interface Content {
  readonly hash: string
  readonly size: number
}

const MAX_BYTES = 4 * 1024 ** 3
/** Longer than a query waits and works. */
const GRACE_MS = 5 * 60_000
/** Temporary files of this age belong to failed processes. */
const LEFTOVER_MS = 60 * 60_000
const HASH = /^[0-9a-f]{64}$/

/**
 * A local cache of files by content, `<folder>/<person>/<hash>`. Everything can be fetched from the store again. A file
 * gets its name when it is complete, and is verified before its first use and after every change. Several processes may
 * share the folder.
 */
export class FileCache {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #graceMs: number
  readonly #now: () => number
  readonly #locks = new KeyedLock()
  /** Verified files with their state at that time. */
  readonly #verified = new Map<string, string>()
  readonly #usedAt = new Map<string, number>()

  constructor({ folder, maxBytes = MAX_BYTES, graceMs = GRACE_MS, now }: CacheOptions) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#graceMs = graceMs
    this.#now = now
  }

  folderOf = (user: UserId): string => join(this.#folder, user)

  /** The path of the content; `read` fetches it if it is missing. Undefined if what it fetches is different. */
  get(user: UserId, content: Content, read: () => AsyncIterable<Uint8Array>): Promise<string | undefined> {
    const path = this.#pathOf(user, content)
    // Concurrent callers fetch it once.
    return this.#locks.run(path, async () => {
      this.#usedAt.set(path, this.#now())
      if (await this.#isCached(path, content)) return path
      const draft = await this.#draft(user, "part")
      try {
        await writeAll(draft, read())
        if (!(await isContent(draft, content))) return undefined
        await this.#place(draft, path)
      } finally {
        await rm(draft, { force: true })
      }
      return path
    })
  }

  /**
   * Moves a file with this content into the cache. Never throws, because it follows a completed operation; if it fails,
   * the file is fetched when needed.
   */
  async adopt(user: UserId, content: Content, from: string): Promise<void> {
    const path = this.#pathOf(user, content)
    try {
      await mkdir(this.folderOf(user), { recursive: true, mode: 0o700 })
      this.#usedAt.set(path, this.#now())
      await this.#place(from, path)
    } catch {
      await rm(from, { force: true }).catch(() => {}) // on another disk
    }
  }

  /** A copy that may be changed; deleted, with SQLite's files next to it, when the work ends. */
  async withCopy<T>(user: UserId, path: string, work: (copy: string) => Promise<T>): Promise<T> {
    const copy = await this.#draft(user, "copy")
    try {
      await copyFile(path, copy, constants.COPYFILE_FICLONE)
      return await work(copy)
    } finally {
      // Leftovers are deleted later: the work is done and must not be reported as failed.
      for (const ending of ["", "-journal", "-wal", "-shm"]) await rm(copy + ending, { force: true }).catch(() => {})
    }
  }

  async forget(user: UserId): Promise<void> {
    await rm(this.folderOf(user), { recursive: true, force: true })
    for (const path of this.#usedAt.keys()) if (path.startsWith(this.folderOf(user))) this.#forgetPath(path)
  }

  /** Deletes what a person no longer has (`hashesOf`), leftovers of failed processes, and files beyond the limit. */
  async tidy(hashesOf: (user: UserId) => Promise<ReadonlySet<string>>): Promise<void> {
    const left: CachedFile[] = []
    const seen = new Set<string>()
    for (const user of await namesIn(this.#folder)) {
      if (!isId("user", user)) continue
      // Names first: a file that is added after the store was asked must not be deleted.
      const names = await namesIn(this.folderOf(user as UserId))
      const known = names.length > 0 ? await hashesOf(user as UserId) : new Set<string>()
      for (const name of names) {
        const path = join(this.folderOf(user as UserId), name)
        const file = await stat(path).catch(() => undefined)
        if (!file) continue
        const usedAt = Math.max(file.mtimeMs, this.#usedAt.get(path) ?? 0)
        const idle = this.#now() - usedAt
        seen.add(path)
        const isGone = HASH.test(name) ? !known.has(name) && idle > this.#graceMs : idle > LEFTOVER_MS
        if (isGone) await this.#remove(path)
        else if (HASH.test(name)) left.push({ path, size: file.size, usedAt })
      }
    }
    for (const path of this.#usedAt.keys()) if (!seen.has(path)) this.#forgetPath(path)
    await this.#makeRoom(left)
  }

  async #makeRoom(files: readonly CachedFile[]): Promise<void> {
    let total = files.reduce((sum, { size }) => sum + size, 0)
    for (const { path, size, usedAt } of [...files].sort((a, b) => a.usedAt - b.usedAt)) {
      if (total <= this.#maxBytes || this.#now() - usedAt <= this.#graceMs) return
      await this.#remove(path)
      total -= size
    }
  }

  async #remove(path: string): Promise<void> {
    this.#forgetPath(path)
    await rm(path, { force: true })
  }

  #forgetPath(path: string): void {
    this.#verified.delete(path)
    this.#usedAt.delete(path)
  }

  #pathOf(user: UserId, { hash }: Content): string {
    return join(this.folderOf(user), hash)
  }

  async #draft(user: UserId, ending: "part" | "copy"): Promise<string> {
    await mkdir(this.folderOf(user), { recursive: true, mode: 0o700 })
    return join(this.folderOf(user), `${randomBytes(12).toString("hex")}.${ending}`)
  }

  /** Whether the file is complete; verified only if it may have changed. */
  async #isCached(path: string, content: Content): Promise<boolean> {
    const state = await stateOf(path).catch(() => undefined)
    if (state === undefined) return false
    if (this.#verified.get(path) !== state && !(await isContent(path, content))) return false
    await this.#touch(path)
    return true
  }

  async #place(from: string, path: string): Promise<void> {
    await rename(from, path)
    await this.#touch(path)
  }

  /** The modification time is the last use, for other processes and the next start. */
  async #touch(path: string): Promise<void> {
    const now = this.#now()
    const { mtimeMs } = await stat(path)
    // Not each time, because other processes verify a file again when its time changes.
    if (Math.abs(now - mtimeMs) > this.#graceMs) await utimes(path, new Date(now), new Date(now))
    this.#verified.set(path, await stateOf(path))
  }
}

interface CachedFile {
  readonly path: string
  readonly size: number
  readonly usedAt: number
}

/** Changes if the file was written to or replaced. */
async function stateOf(path: string): Promise<string> {
  const { size, mtimeNs, ino } = await stat(path, { bigint: true })
  return `${size} ${mtimeNs} ${ino}`
}

async function isContent(path: string, { hash, size }: Content): Promise<boolean> {
  if ((await stat(path)).size !== size) return false
  const read = createHash("sha256")
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), read)
  return read.digest("hex") === hash
}

async function writeAll(path: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, "wx", 0o600)
  try {
    for await (const part of parts) await file.writeFile(part)
  } finally {
    await file.close()
  }
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
