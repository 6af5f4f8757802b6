import { randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { type FiledIndex, type IndexHead, readIndexFile, readIndexHead, writeIndexFile } from "./index-file.ts"

const SUFFIX = ".vectors"
const PARTIAL = ".part"

/** How index files are compared with the database. */
export interface IndexedRows {
  /**
   * The version up to which a file matches these rows: its newest vector must be the one that the database has under
   * that version. After a restore it may be another one; then this is undefined.
   */
  goodUpTo(owner: string, head: IndexHead): Promise<number | undefined>
  /** Whether a document in the file was deleted. */
  hasGone(owner: string, documents: IndexHead["documents"]): Promise<boolean>
  /** Whether a file with deleted documents may be read, because its reader leaves them out. */
  readonly outlivesGone: boolean
  idOf(document: IndexHead["documents"][number], ordinal: number): string
}

/**
 * Vector indexes as files, one per owner: a collection, or a person with notes. They are next to the database, or on a
 * node's own disk. A file is only a cache: if it is damaged, outdated or does not match the database, it is deleted and
 * the index is built from the rows.
 */
export class IndexFiles {
  readonly #folder: string
  readonly #rows: IndexedRows

  constructor(folder: string, rows: IndexedRows) {
    this.#folder = folder
    this.#rows = rows
  }

  /** Undefined if there is none that matches the database. */
  async read(owner: string, wanted: { embedder: string; dimensions: number }): Promise<FiledIndex | undefined> {
    const idOf = this.#rows.idOf.bind(this.#rows)
    const found = await readIndexFile(this.#path(owner), { ...wanted, idOf }).catch(() => undefined)
    const version = found && (await this.#goodUpTo(owner, found.head))
    if (found && version !== undefined) return { ...found, head: { ...found.head, version } }
    await this.remove(owner)
    return undefined
  }

  /**
   * Gives a file its name when it is complete, and deletes it if a document in it was deleted. False if the index
   * changed in the meantime.
   */
  async write(owner: string, filed: FiledIndex): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, `${owner}.${randomUUID()}${PARTIAL}`)
    try {
      if (!(await writeIndexFile(path, filed))) return false
      await rename(path, this.#path(owner))
      // A document that was deleted while this was written could not be removed from the file.
      if (await this.#rows.hasGone(owner, filed.head.documents)) await this.remove(owner)
      return true
    } finally {
      await rm(path, { force: true })
    }
  }

  async remove(owner: string): Promise<void> {
    await rm(this.#path(owner), { force: true })
  }

  /** Deletes files with deleted documents, and incomplete files unless a live process may be writing them. */
  async sweep({ halfWritten }: { readonly halfWritten: "remove" | "leave" }): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      if (name.endsWith(PARTIAL) && halfWritten === "leave") continue
      const path = join(this.#folder, name)
      const head = name.endsWith(SUFFIX) ? await readIndexHead(path).catch(() => undefined) : undefined
      if (!head || (await this.#rows.hasGone(name.slice(0, -SUFFIX.length), head.documents)))
        await rm(path, { force: true })
    }
  }

  async #goodUpTo(owner: string, head: IndexHead): Promise<number | undefined> {
    if (!this.#rows.outlivesGone && (await this.#rows.hasGone(owner, head.documents))) return undefined
    return this.#rows.goodUpTo(owner, head)
  }

  #path(owner: string): string {
    return join(this.#folder, `${owner}${SUFFIX}`)
  }
}
