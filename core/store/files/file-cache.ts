import { createHash, randomBytes } from "node:crypto"
import { constants, createReadStream } from "node:fs"
import { copyFile, mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { KeyedLock } from "../../shared/concurrency/locks.ts"
import { isId, type UserId } from "../../protocol/ids.ts"

export interface CacheOptions {
  readonly folder: string
  /** What all files together may take; those that were used in the last minutes are left all the same. */
  readonly mostBytes?: number
  /** How long a file that was asked for stays, whatever becomes of it: whoever asked opens it by its name. */
  readonly graceMs?: number
  readonly now: () => number
}

interface Content {
  readonly hash: string
  readonly size: number
}

const MOST_BYTES = 4 * 1024 ** 3
/** Longer than a query waits for its turn and then works. */
const GRACE_MS = 5 * 60_000
/** What a process that died has left half done is as old as this; nothing takes as long. */
const LEFT_OVER_MS = 60 * 60_000
const HASH = /^[0-9a-f]{64}$/

/**
 * Files on this machine's disk by what is in them, `<folder>/<person>/<hash>`. Each can be had from the store again, so
 * that nothing here has to last: a file comes under its name only when it is whole, and is read through before its first
 * use and after whatever has changed it since. Any number of processes may share the folder.
 */
export class FileCache {
  readonly #folder: string
  readonly #mostBytes: number
  readonly #graceMs: number
  readonly #now: () => number
  readonly #locks = new KeyedLock()
  /** Files that were read through and found whole, with what tells whether they have been touched since. */
  readonly #verified = new Map<string, string>()
  readonly #usedAt = new Map<string, number>()

  constructor({ folder, mostBytes = MOST_BYTES, graceMs = GRACE_MS, now }: CacheOptions) {
    this.#folder = folder
    this.#mostBytes = mostBytes
    this.#graceMs = graceMs
    this.#now = now
  }

  folderOf = (user: UserId): string => join(this.#folder, user)

  /** Where the content is; `read` brings it where it is not here. Undefined where what it brings is something else. */
  get(user: UserId, content: Content, read: () => AsyncIterable<Uint8Array>): Promise<string | undefined> {
    const path = this.#pathOf(user, content)
    // Two who want the same fetch it once.
    return this.#locks.run(path, async () => {
      this.#usedAt.set(path, this.#now())
      if (await this.#isHere(path, content)) return path
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
   * Takes a file in that is known to be this content; where it cannot be moved, it is fetched when it is needed. Never
   * throws: what it is called after has been done, and must not be told as failed.
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

  /** A copy to be changed; gone, with what SQLite has put beside it, when the work ends. */
  async withCopy<T>(user: UserId, path: string, work: (copy: string) => Promise<T>): Promise<T> {
    const copy = await this.#draft(user, "copy")
    try {
      await copyFile(path, copy, constants.COPYFILE_FICLONE)
      return await work(copy)
    } finally {
      // What stays behind is tidied up later: the work has been done, and must not be told as failed.
      for (const ending of ["", "-journal", "-wal", "-shm"]) await rm(copy + ending, { force: true }).catch(() => {})
    }
  }

  async forget(user: UserId): Promise<void> {
    await rm(this.folderOf(user), { recursive: true, force: true })
    for (const path of this.#usedAt.keys()) if (path.startsWith(this.folderOf(user))) this.#unremember(path)
  }

  /** Removes what `hashesOf` a person does not have any more, what dead processes have left, and what is too much. */
  async tidy(hashesOf: (user: UserId) => Promise<ReadonlySet<string>>): Promise<void> {
    const left: Aged[] = []
    const seen = new Set<string>()
    for (const user of await namesIn(this.#folder)) {
      if (!isId("user", user)) continue
      // The names first: a file that comes after the store was asked is not judged by its answer.
      const names = await namesIn(this.folderOf(user as UserId))
      const known = names.length > 0 ? await hashesOf(user as UserId) : new Set<string>()
      for (const name of names) {
        const path = join(this.folderOf(user as UserId), name)
        const file = await stat(path).catch(() => undefined)
        if (!file) continue
        const usedAt = Math.max(file.mtimeMs, this.#usedAt.get(path) ?? 0)
        const idle = this.#now() - usedAt
        seen.add(path)
        const isGone = HASH.test(name) ? !known.has(name) && idle > this.#graceMs : idle > LEFT_OVER_MS
        if (isGone) await this.#remove(path)
        else if (HASH.test(name)) left.push({ path, size: file.size, usedAt })
      }
    }
    for (const path of this.#usedAt.keys()) if (!seen.has(path)) this.#unremember(path)
    await this.#makeRoom(left)
  }

  async #makeRoom(files: readonly Aged[]): Promise<void> {
    let total = files.reduce((sum, { size }) => sum + size, 0)
    for (const { path, size, usedAt } of [...files].sort((a, b) => a.usedAt - b.usedAt)) {
      if (total <= this.#mostBytes || this.#now() - usedAt <= this.#graceMs) return
      await this.#remove(path)
      total -= size
    }
  }

  async #remove(path: string): Promise<void> {
    this.#unremember(path)
    await rm(path, { force: true })
  }

  #unremember(path: string): void {
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

  /** Whether the file is whole; read through only where it may have been changed since it was. */
  async #isHere(path: string, content: Content): Promise<boolean> {
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

  /** The time of a file is that of its last use, by which other processes and the next start judge it. */
  async #touch(path: string): Promise<void> {
    const now = this.#now()
    const { mtimeMs } = await stat(path)
    // Not each time: whoever shares the folder reads a file through again whose time is another.
    if (Math.abs(now - mtimeMs) > this.#graceMs) await utimes(path, new Date(now), new Date(now))
    this.#verified.set(path, await stateOf(path))
  }
}

interface Aged {
  readonly path: string
  readonly size: number
  readonly usedAt: number
}

/** Another text when anybody has written to the file, or put another one in its place. */
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
