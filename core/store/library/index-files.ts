import { randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { type FiledIndex, type IndexHead, readIndexFile, readIndexHead, writeIndexFile } from "./index-file.ts"

const ENDING = ".vectors"
const HALF = ".part"

/** What the database says of the vectors in a file, and what each of them is known by. */
export interface FiledRows {
  /**
   * Up to which number the file is of these rows: what is newest in it is what the database has under that number. After a
   * restore that is something else, and then it is undefined.
   */
  goodUpTo(owner: string, head: IndexHead): Promise<number | undefined>
  /** Whether something in it is not there any more. */
  hasGone(owner: string, documents: IndexHead["documents"]): Promise<boolean>
  /** Whether a file may be read of which something is gone: who reads it leaves that out. */
  readonly outlivesGone: boolean
  idOf(document: IndexHead["documents"][number], ordinal: number): string
}

/**
 * Indexes of vectors as files, one for each owner: a collection, or a person with notes. They lie beside the database, or on a
 * node's own disk. Nothing depends on them: one that cannot be read, is torn, old, or says something else than the database is
 * removed, and the index is made of the rows again.
 */
export class IndexFiles {
  readonly #folder: string
  readonly #rows: FiledRows

  constructor(folder: string, rows: FiledRows) {
    this.#folder = folder
    this.#rows = rows
  }

  /** Undefined where there is none that fits what the database says now. */
  async read(owner: string, wanted: { embedder: string; dimensions: number }): Promise<FiledIndex | undefined> {
    const idOf = this.#rows.idOf.bind(this.#rows)
    const found = await readIndexFile(this.#path(owner), { ...wanted, idOf }).catch(() => undefined)
    const version = found && (await this.#goodUpTo(owner, found.head))
    if (found && version !== undefined) return { ...found, head: { ...found.head, version } }
    await this.remove(owner)
    return undefined
  }

  /** Under its name only when it is whole, and not for longer than all that is in it is there. False where it changed meanwhile. */
  async write(owner: string, filed: FiledIndex): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, `${owner}.${randomUUID()}${HALF}`)
    try {
      if (!(await writeIndexFile(path, filed))) return false
      await rename(path, this.#path(owner))
      // What was removed while this was written was removed from a file that was not there yet.
      if (await this.#rows.hasGone(owner, filed.head.documents)) await this.remove(owner)
      return true
    } finally {
      await rm(path, { force: true })
    }
  }

  async remove(owner: string): Promise<void> {
    await rm(this.#path(owner), { force: true })
  }

  /**
   * Removes what holds something that is gone; and what a killed process left half written, except where one that lives may be
   * writing it.
   */
  async sweep({ halfWritten }: { readonly halfWritten: "remove" | "leave" }): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      if (name.endsWith(HALF) && halfWritten === "leave") continue
      const path = join(this.#folder, name)
      const head = name.endsWith(ENDING) ? await readIndexHead(path).catch(() => undefined) : undefined
      if (!head || (await this.#rows.hasGone(name.slice(0, -ENDING.length), head.documents)))
        await rm(path, { force: true })
    }
  }

  async #goodUpTo(owner: string, head: IndexHead): Promise<number | undefined> {
    if (!this.#rows.outlivesGone && (await this.#rows.hasGone(owner, head.documents))) return undefined
    return this.#rows.goodUpTo(owner, head)
  }

  #path(owner: string): string {
    return join(this.#folder, `${owner}${ENDING}`)
  }
}
