import type { CollectionId, DocumentId, EditionId } from "../../protocol/ids.ts"
import { IndexCache, type IndexCacheOptions } from "../../shared/vectors/index-cache.ts"
import { fromText } from "../../shared/vectors/unit.ts"
import { VectorIndex } from "../../shared/vectors/vector-index.ts"
import type { Engine } from "../engine/engine.ts"
import { parsePassageId, passageId } from "./editions.ts"
import type { FiledIndex, IndexHead } from "./index-file.ts"
import { IndexFiles } from "./index-files.ts"
import { type FileState, IndexWriting } from "./index-writing.ts"
import { PassageRows } from "./passage-rows.ts"

/** The index of a collection in memory. */
export interface PassageIndex extends FileState {
  /** The passages of each document in it, and their edition. */
  readonly documents: Map<DocumentId, { readonly edition: EditionId; readonly passages: string[] }>
  /** The newest vector that was read, and its passage. */
  version: number
  newest: string
  readonly bytes: number
}

/** Rows per read, so that other work gets its turn. */
const PAGE = 500
/** Bytes per passage for the ids. */
const NAMED = 60

/** The indexes that find passages by their vectors, one per collection, in memory; large ones also in a file. */
export class PassageIndexes {
  readonly #engine: Engine
  readonly #embedder: string
  readonly #kept: IndexCache<PassageIndex>
  readonly #reading = new Map<string, Promise<unknown>>()
  readonly #rows: PassageRows
  readonly #files: IndexFiles | undefined
  readonly #writing: IndexWriting | undefined

  constructor(engine: Engine, embedder: string, options: IndexCacheOptions & { readonly leastFiled?: number }) {
    this.#engine = engine
    this.#embedder = embedder
    this.#kept = new IndexCache(options)
    this.#rows = new PassageRows(engine)
    this.#files = passageFiles(engine)
    this.#writing =
      this.#files && new IndexWriting(this.#files, { now: () => options.clock.now(), least: options.leastFiled })
  }

  /** The collection's index up to the newest committed vector, whichever node wrote it. */
  current(collection: CollectionId, dimensions: number): Promise<PassageIndex> {
    const before = this.#reading.get(collection) ?? Promise.resolve()
    const reading = before.catch(() => {}).then(() => this.#read(collection, dimensions))
    this.#reading.set(collection, reading)
    const done = () => {
      if (this.#reading.get(collection) === reading) this.#reading.delete(collection)
    }
    reading.then(done, done)
    return reading
  }

  /** Removes passages that no longer exist. */
  forget(collections: readonly CollectionId[], passages: readonly string[]): void {
    for (const collection of collections) {
      if (!this.#kept.owners.includes(collection)) continue
      const { index } = this.#kept.of(collection, () => indexFrom(new VectorIndex(1)))
      for (const id of passages) index.delete(id)
    }
  }

  /** To be called when a document was deleted from the database: afterwards no file contains it. */
  async removed(collection: CollectionId): Promise<void> {
    await this.#files?.remove(collection)
    if (this.#kept.owners.includes(collection)) this.#kept.of(collection, () => indexFrom(new VectorIndex(1))).filed = 0
  }

  /** Removes files that a failed process left, or that contain what another node has deleted. */
  async sweep(halfWritten: "remove" | "leave"): Promise<void> {
    await this.#files?.sweep({ halfWritten })
  }

  /** Resolves when no file is being written. */
  async settled(): Promise<void> {
    await this.#writing?.settled()
  }

  async #read(collection: CollectionId, dimensions: number): Promise<PassageIndex> {
    const isNew = !this.#kept.owners.includes(collection)
    const filed = isNew ? await this.#files?.read(collection, { embedder: this.#embedder, dimensions }) : undefined
    let kept = this.#kept.of(collection, () => (filed ? indexOfFile(filed) : indexFrom(new VectorIndex(dimensions))))
    await this.#readOn(collection, kept)
    // The rows are the truth: if the file leads to another number of vectors, it is replaced.
    if (filed && (await this.#count(collection)) !== kept.index.size) {
      await this.removed(collection)
      this.#kept.drop(collection)
      kept = this.#kept.of(collection, () => indexFrom(new VectorIndex(dimensions)))
      await this.#readOn(collection, kept)
    }
    this.#kept.trim()
    this.#writing?.writeIfDue(collection, kept, () => this.#toFile(collection, kept))
    return kept
  }

  async #readOn(collection: CollectionId, kept: PassageIndex): Promise<void> {
    const sql = `SELECT edition, ordinal, document, version, vector FROM passage_vector
      WHERE collection = ? AND embedder = ? AND version > ? ORDER BY version LIMIT ?`
    for (;;) {
      const values = [collection, this.#embedder, kept.version, PAGE]
      const rows = await this.#engine.query<VectorRow>(sql, values)
      for (const row of rows) add(kept, row)
      if (rows.length < PAGE) break
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async #count(collection: CollectionId): Promise<number> {
    const sql = "SELECT count(*) AS n FROM passage_vector WHERE collection = ? AND embedder = ?"
    return Number((await this.#engine.query<{ n: number }>(sql, [collection, this.#embedder]))[0]?.n ?? 0)
  }

  /** Deleted documents may still be in memory. */
  async #toFile(collection: CollectionId, kept: PassageIndex): Promise<FiledIndex | "changed" | undefined> {
    const { version: before } = kept
    const there = await this.#rows.editionsOf(collection)
    // Identifies the file for the next process, so it must be a vector that still exists.
    const sql = `SELECT edition, ordinal, version FROM passage_vector
      WHERE collection = ? AND embedder = ? AND version <= ?
        AND edition IN (SELECT edition FROM document WHERE collection = ?) ORDER BY version DESC LIMIT 1`
    type Newest = Pick<VectorRow, "edition" | "ordinal" | "version">
    const [newest] = await this.#engine.query<Newest>(sql, [collection, this.#embedder, before, collection])
    // Documents that were read since the query are not in its result, and would be taken for deleted.
    if (kept.version !== before) return "changed"
    for (const [document, { edition, passages }] of kept.documents) {
      if (there.has(edition)) continue
      for (const id of passages) kept.index.delete(id)
      kept.documents.delete(document)
    }
    if (newest) Object.assign(kept, { version: Number(newest.version), newest: `${newest.edition} ${newest.ordinal}` })
    return kept.index.size === 0 ? undefined : toFile(kept, this.#embedder)
  }
}

/** The index files of this database. */
export const passageFiles = (engine: Engine): IndexFiles | undefined =>
  engine.cacheFolder && new IndexFiles(engine.cacheFolder("vectors"), new PassageRows(engine))

interface VectorRow {
  readonly edition: EditionId
  readonly ordinal: number
  readonly document: DocumentId
  readonly version: number
  readonly vector: string
}

function add(kept: PassageIndex, { edition, ordinal, document, version, vector }: VectorRow): void {
  kept.version = Number(version)
  kept.newest = `${edition} ${ordinal}`
  const numbers = fromText(vector)
  if (numbers.length !== kept.index.dimensions) return
  const id = passageId(edition, Number(ordinal))
  note(kept, document, edition, id)
  kept.index.set(id, numbers)
}

/** Only one edition of a document counts: the passages of the previous one are removed. */
function note(kept: PassageIndex, document: DocumentId, edition: EditionId, id: string): void {
  const before = kept.documents.get(document)
  if (before?.edition === edition) before.passages.push(id)
  else {
    for (const old of before?.passages ?? []) kept.index.delete(old)
    kept.documents.set(document, { edition, passages: [id] })
  }
}

const indexFrom = (index: VectorIndex): PassageIndex => ({
  index,
  documents: new Map(),
  ...{ version: 0, newest: "", filed: 0, filedAt: -Infinity },
  get bytes() {
    return index.bytes + index.size * NAMED
  },
})

function toFile({ index, documents, version, newest }: PassageIndex, embedder: string): FiledIndex {
  const list = [...documents].map(([document, { edition }]) => [document, edition] as const)
  const numbers = new Map(list.map(([, edition], i) => [edition, i]))
  const places = new Uint32Array(2 * index.size)
  for (const [slot, id] of index.parts.ids.entries()) {
    const { edition, ordinal } = parsePassageId(id as Parameters<typeof parsePassageId>[0])!
    places.set([numbers.get(edition)!, ordinal], 2 * slot)
  }
  const head: IndexHead = {
    ...{ embedder, version, newest, documents: list },
    ...{ dimensions: index.dimensions, count: index.size },
  }
  return { head, index, places, changes: index.changes }
}

function indexOfFile({ head, index, places }: FiledIndex): PassageIndex {
  const kept = indexFrom(index)
  for (const [slot, id] of index.parts.ids.entries()) {
    const [document, edition] = head.documents[places[2 * slot]!]!
    note(kept, document as DocumentId, edition as EditionId, id)
  }
  return Object.assign(kept, { version: head.version, newest: head.newest, filed: index.size })
}
