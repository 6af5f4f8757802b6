import { lstat, rm } from "node:fs/promises"
import { join } from "node:path"
import { failure, type StoredFiles, KeyedLock, type LocalFile, type Log, type UserId } from "../../../core/pack.ts"
import { queryLimits } from "../database/sql-guards.ts"
import { SqliteChangeChildren } from "./change-children.ts"
import type { SqliteMark } from "./change-job.ts"
import { uploadAt } from "./upload-path.ts"

/**
 * Databases made of uploads, where several machines share the store: kept there. One that lies in a folder of this machine,
 * from before that was so, is taken into the store when it is used for the first time.
 */
const DELETED_AFTER_MS = 24 * 3_600_000

export class StoredUploads {
  readonly files: StoredFiles
  readonly #root: string
  readonly #locks = new KeyedLock()
  readonly #children: SqliteChangeChildren

  constructor(files: StoredFiles, root: string, log?: Log) {
    this.files = files
    this.#root = root
    this.#children = new SqliteChangeChildren(log)
  }

  folderOf = (user: UserId): string => this.files.folderOf(user)

  async fetch(user: UserId, path: string): Promise<LocalFile | undefined> {
    const file = await this.files.fetch(user, path)
    return file ?? ((await this.take(user, path)) ? this.files.fetch(user, path) : undefined)
  }

  async withCopy<T>(user: UserId, path: string, work: (copy: LocalFile) => Promise<T>): Promise<T | undefined> {
    if (!(await this.files.find(user, path))) await this.take(user, path)
    return this.files.withCopy(user, path, work)
  }

  /** Takes an upload from this machine's disk into the store, for as long as its connection is there. True: it is in there. */
  take(user: UserId, path: string): Promise<boolean> {
    const file = join(this.#root, user, path)
    return this.#locks.run(file, async () => {
      const id = uploadAt(path)
      const found = await lstat(file).catch(() => undefined)
      if (!id || !found?.isFile()) return false
      if (await this.files.find(user, path)) {
        await rm(file, { force: true }) // taken before, by a process that died then; what the store has is newer
        return true
      }
      await this.#settle(user, file)
      const stored = await this.files.put(user, file)
      const isAdded = await this.files.add(user, path, stored, id)
      // In the store first, then away from here: killed in between, it is found twice and never lost.
      if (isAdded) await this.files.adopt(user, stored, file)
      else await this.files.drop(stored)
      if (isAdded || (await this.files.find(user, path))) return true
      // Deleted at another node while this one was away. A young one may be an upload that is just being made.
      if (Date.now() - found.mtimeMs > DELETED_AFTER_MS) await rm(file, { force: true })
      return false
    })
  }

  close(): Promise<void> {
    return this.#children.close()
  }

  /**
   * Completes or rolls back an interrupted change, as SQLite does when it opens the file: without its journal, the file
   * would be corrupt.
   */
  async #settle(user: UserId, file: string): Promise<void> {
    if (!(await isThere(`${file}-journal`))) return
    const signal = AbortSignal.timeout(queryLimits.seconds * 1000)
    const folders = [join(this.#root, user)]
    const work = { type: "look", mark: NO_MARK } as const
    await this.#children.run(folders, signal, async (child) => {
      child.send({ path: file, folders, limits: queryLimits, work })
      await child.hear(signal)
    })
    if (await isThere(`${file}-journal`))
      throw failure("connection_failed", { problem: "a change of its file was cut off and cannot be taken back" })
  }
}

const NO_MARK: SqliteMark = { counter: null, table: "", rowName: "", rows: [], before: "", after: "" }

const isThere = async (file: string): Promise<boolean> => ((await lstat(file).catch(() => undefined))?.size ?? 0) > 0
