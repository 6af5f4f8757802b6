import { randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import type { CollectionId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { type FiledIndex, type IndexHead, readIndexFile, readIndexHead, writeIndexFile } from "./index-file.ts"

const ENDING = ".vectors"

/**
 * Indexes of vectors as files beside the database, one for each collection. Nothing depends on them: one that cannot be read,
 * is torn, old, or says something else than the database is removed, and the index is made of the rows again.
 */
export class IndexFiles {
  readonly #engine: Engine
  readonly #folder: string

  constructor(engine: Engine, folder: string) {
    this.#engine = engine
    this.#folder = folder
  }

  /** Undefined where there is none that fits what the database says now. */
  async read(
    collection: CollectionId,
    wanted: { embedder: string; dimensions: number },
  ): Promise<FiledIndex | undefined> {
    const found = await readIndexFile(this.#path(collection), wanted).catch(() => undefined)
    if (found && (await this.#fits(collection, found.head))) return found
    await this.remove(collection)
    return undefined
  }

  /** Under its name only when it is whole, and not for longer than all of its documents are there. False where it changed meanwhile. */
  async write(collection: CollectionId, filed: FiledIndex): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, `${collection}.${randomUUID()}.part`)
    const { changes } = filed.index
    try {
      if (!(await writeIndexFile(path, filed, () => filed.index.changes === changes))) return false
      await rename(path, this.#path(collection))
      // A document that was removed while this was written was removed from a file that was not there yet.
      if (await this.#hasGone(collection, filed.head)) await this.remove(collection)
      return true
    } finally {
      await rm(path, { force: true })
    }
  }

  /** Those that count. */
  async editionsOf(collection: CollectionId): Promise<ReadonlySet<string>> {
    const sql = "SELECT edition FROM document WHERE collection = ?"
    const rows = await this.#engine.query<{ edition: string }>(sql, [collection])
    return new Set(rows.map(({ edition }) => edition))
  }

  async remove(collection: CollectionId): Promise<void> {
    await rm(this.#path(collection), { force: true })
  }

  /** Removes what holds something of a document that is gone, and what a killed process left half written. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name)
      const collection = name.slice(0, -ENDING.length) as CollectionId
      const head = name.endsWith(ENDING) ? await readIndexHead(path).catch(() => undefined) : undefined
      if (!head || (await this.#hasGone(collection, head))) await rm(path, { force: true })
    }
  }

  /** Whether the newest vector in it is the one that the database has under this number: after a restore it is another. */
  async #fits(collection: CollectionId, { embedder, version, newest, ...head }: IndexHead): Promise<boolean> {
    const sql = "SELECT edition, ordinal FROM passage_vector WHERE collection = ? AND embedder = ? AND version = ?"
    const [row] = await this.#engine.query<{ edition: string; ordinal: number }>(sql, [collection, embedder, version])
    if (!row || `${row.edition} ${row.ordinal}` !== newest) return false
    return !(await this.#hasGone(collection, head))
  }

  async #hasGone(collection: CollectionId, { documents }: Pick<IndexHead, "documents">): Promise<boolean> {
    const there = await this.editionsOf(collection)
    return documents.some(([, edition]) => !there.has(edition))
  }

  #path(collection: CollectionId): string {
    return join(this.#folder, `${collection}${ENDING}`)
  }
}
