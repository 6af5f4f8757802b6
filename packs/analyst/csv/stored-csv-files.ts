import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { isId, type Log, type StoredBytes, type UserId } from "../../../core/pack.ts"
import type { StoredUploads } from "../sqlite/stored-uploads.ts"
import { uploadPath } from "../sqlite/upload-path.ts"
import type { CsvFiles, Owner, UploadedDatabases } from "./files.ts"

/** Databases created from uploads, in the store that several machines share. This disk has only those in progress. */
export class StoredCsvFiles implements UploadedDatabases {
  readonly #kept: StoredUploads
  readonly #disk: CsvFiles
  readonly #root: string
  readonly #log: Log | undefined
  readonly #closing = new AbortController()
  #taking: Promise<void> = Promise.resolve()

  /** `disk`: the folders of jobs, and uploads from before the store had them. */
  constructor(kept: StoredUploads, { disk, root, log }: { disk: CsvFiles; root: string; log?: Log | undefined }) {
    this.#kept = kept
    this.#disk = disk
    this.#root = root
    this.#log = log
  }

  pathOf = uploadPath

  work<T>(run: (folder: string) => Promise<T>): Promise<T> {
    return this.#disk.work(run)
  }

  /** The bytes become a file in the same transaction that records the connection. */
  async place(_folder: string, from: string, { user }: Owner, record: (stored?: StoredBytes) => Promise<void>) {
    const { files } = this.#kept
    const stored = await files.put(user, from)
    try {
      await record(stored)
    } catch (error) {
      await files.drop(stored) // has no effect if only the answer was lost: a file uses the bytes then
      throw error
    }
    await files.adopt(user, stored, from)
  }

  /** Also deletes an older copy on this disk. Other machines delete theirs in `tidy`. */
  remove(owner: Owner, forget: (path?: string) => Promise<void>): Promise<void> {
    return this.#disk.remove(owner, () => forget(uploadPath(owner.id)))
  }

  /** The files in the store are deleted with the person's rows. */
  async removeAll(user: UserId): Promise<void> {
    await this.#disk.removeAll(user)
    await this.#kept.files.forget(user)
  }

  bytesOf(user: UserId): Promise<number> {
    return this.#kept.files.bytesOf(user)
  }

  async sweep(): Promise<void> {
    await this.#disk.sweep()
    await this.tidy()
    // Not awaited: an upload that is needed earlier is accepted then.
    this.#taking = this.#takeAll().catch((error: unknown) => this.#log?.warn("uploads_not_accepted", { error }))
  }

  tidy(): Promise<void> {
    return this.#kept.files.sweep()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#taking
    await this.#kept.close()
  }

  /**
   * Moves uploads from this disk to the store: they are from before the store had them, and other machines cannot see
   * them.
   */
  async #takeAll(): Promise<void> {
    for (const user of await readdir(this.#root).catch(() => [])) {
      if (!isId("user", user)) continue
      for (const name of await readdir(join(this.#root, user, "csv")).catch(() => [])) {
        if (this.#closing.signal.aborted) return
        if (name.endsWith(".db")) await this.#kept.take(user as UserId, `csv/${name}`)
      }
    }
  }
}
