import { lstat, rm } from "node:fs/promises"
import { join } from "node:path"
import { failure, type StoredFiles, KeyedLock, type LocalFile, type Log, type UserId } from "../../../core/pack.ts"
import { queryLimits } from "../database/sql-guards.ts"
import { SqliteChangeChildren } from "./change-children.ts"
import type { SqliteMark } from "./change-job.ts"
import { uploadAt } from "./upload-path.ts"

/**
 * A file on this disk without a connection is deleted if it is older, because a younger one may be an upload in
 * progress.
 */
const DELETED_AFTER_MS = 24 * 3_600_000

/**
 * Databases created from uploads, in the store that several machines share. One that is still in a folder of this
 * machine, from before the store had them, is moved to the store on first use.
 */
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

  /**
   * Moves an upload from this machine's disk to the store, as long as its connection exists. True if the store has it.
   */
  take(user: UserId, path: string): Promise<boolean> {
    const file = join(this.#root, user, path)
    return this.#locks.run(file, async () => {
      const id = uploadAt(path)
      const found = await lstat(file).catch(() => undefined)
      if (!id || !found?.isFile()) return false
      if (await this.files.find(user, path)) {
        await rm(file, { force: true }) // a process moved it before and crashed; the store's copy is newer
        return true
      }
      await this.#settle(user, file)
      const stored = await this.files.put(user, file)
      const isAdded = await this.files.add(user, path, stored, id)
      // First stored, then deleted here: after a crash in between there are two copies, but it is never lost.
      if (isAdded) await this.files.adopt(user, stored, file)
      else await this.files.drop(stored)
      if (isAdded || (await this.files.find(user, path))) return true
      // Its connection was deleted on another node. A recent file may be an upload in progress.
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
