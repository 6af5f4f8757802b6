import type { UserId } from "../../protocol/ids.ts"
import { IndexCache, type IndexCacheOptions } from "../../shared/vectors/index-cache.ts"
import { fromText } from "../../shared/vectors/unit.ts"
import { VectorIndex } from "../../shared/vectors/vector-index.ts"
import type { Engine } from "../engine/engine.ts"
import type { FiledIndex } from "../library/index-file.ts"
import type { IndexFiles } from "../library/index-files.ts"
import { type FileState, IndexWriting } from "../library/index-writing.ts"
import { noteFiles, NoteRows } from "./note-rows.ts"

/** The index of a person's notes in memory. */
export interface NoteIndex extends FileState {
  /** The version of the person's vectors up to which it was read. */
  version: number
  /** The version of each note in it. */
  readonly versions: Map<string, number>
  readonly bytes: number
}

/** From how many notes on an index is written to a file. */
export type NoteIndexOptions = IndexCacheOptions & { readonly leastFiled?: number }

/** Rows per read, so that other work gets its turn. */
const PAGE = 500
/** Bytes per note for the versions. */
const NUMBERED = 60

/** The indexes that find notes by their vectors, one per person, in memory; large ones also in a file. */
export class NoteIndexes {
  readonly #engine: Engine
  readonly #embedder: string
  readonly #kept: IndexCache<NoteIndex>
  readonly #reading = new Map<string, Promise<unknown>>()
  readonly #rows: NoteRows
  readonly #files: IndexFiles | undefined
  readonly #writing: IndexWriting | undefined

  constructor(engine: Engine, embedder: string, { leastFiled, ...options }: NoteIndexOptions) {
    this.#engine = engine
    this.#embedder = embedder
    this.#kept = new IndexCache(options)
    this.#rows = new NoteRows(engine)
    this.#files = noteFiles(engine)
    this.#writing = this.#files && new IndexWriting(this.#files, { now: () => options.clock.now(), least: leastFiled })
  }

  /** The person's index up to the newest committed vector, whichever node wrote it. */
  async current(person: UserId, dimensions: number): Promise<NoteIndex> {
    const before = this.#reading.get(person) ?? Promise.resolve()
    const reading = before.catch(() => {}).then(() => this.#read(person, dimensions))
    this.#reading.set(person, reading)
    try {
      return await reading
    } finally {
      if (this.#reading.get(person) === reading) this.#reading.delete(person)
    }
  }

  /** To be called when a note was deleted from the database: afterwards no file contains it. */
  async removed(person: UserId): Promise<void> {
    await this.#files?.remove(person)
    if (this.#kept.owners.includes(person)) this.#kept.of(person, () => indexFrom(new VectorIndex(1))).filed = 0
  }

  /** Removes files that a failed process left, or that contain what another node has deleted. */
  async sweep(halfWritten: "remove" | "leave"): Promise<void> {
    await this.#files?.sweep({ halfWritten })
  }

  /** Resolves when no file is being written. */
  async settled(): Promise<void> {
    await this.#writing?.settled()
  }

  async #read(person: UserId, dimensions: number): Promise<NoteIndex> {
    const filed = this.#kept.owners.includes(person) ? undefined : await this.#readFile(person, dimensions)
    const kept = this.#kept.of(person, () => filed ?? indexFrom(new VectorIndex(dimensions)))
    await this.#readOn(person, kept)
    this.#kept.trim()
    this.#writing?.writeIfDue(person, kept, () => this.#toFile(person, kept))
    return kept
  }

  /** The index of the file, as far as it matches the rows. Undefined if there is none, or if it lacks an older row. */
  async #readFile(person: UserId, dimensions: number): Promise<NoteIndex | undefined> {
    const filed = await this.#files?.read(person, { embedder: this.#embedder, dimensions })
    if (!filed) return undefined
    const { head, index } = filed
    const there = await this.#rows.editionsOf(person, this.#embedder)
    const kept = indexFrom(index)
    for (const [note, name] of head.documents) {
      const edition = there.get(note)
      if (edition?.name === name) kept.versions.set(note, edition.version)
      else index.delete(note)
    }
    const isTheirs = [...there].every(([note, { version }]) => version > head.version || kept.versions.has(note))
    // A file with deleted notes is removed.
    const isWhole = kept.versions.size === head.documents.length
    if (!isTheirs || !isWhole) await this.#files?.remove(person)
    if (!isTheirs) return undefined
    // A restored database may assign versions of the file again, so these are read.
    let newest = 0
    for (const version of kept.versions.values()) newest = Math.max(newest, version)
    return Object.assign(kept, { version: newest, filed: isWhole ? index.size : 0 })
  }

  async #readOn(person: UserId, kept: NoteIndex): Promise<void> {
    const sql = `SELECT note, version, vector FROM note_vector WHERE person = ? AND embedder = ? AND version > ?
      ORDER BY version LIMIT ?`
    for (;;) {
      const values = [person, this.#embedder, kept.version, PAGE]
      const rows = await this.#engine.query<{ note: string; version: number; vector: string }>(sql, values)
      for (const { note, version, vector } of rows) {
        kept.version = Number(version)
        const numbers = fromText(vector)
        if (numbers.length !== kept.index.dimensions) continue
        kept.index.set(note, numbers)
        kept.versions.set(note, kept.version)
      }
      if (rows.length < PAGE) break
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Notes that were deleted or changed are still in memory, but are not written. */
  async #toFile(person: UserId, kept: NoteIndex): Promise<FiledIndex | "changed" | undefined> {
    const { index, versions, version: before } = kept
    const there = await this.#rows.editionsOf(person, this.#embedder)
    // Notes that were read since the query are not in its result, and would be taken for deleted.
    if (kept.version !== before) return "changed"
    for (const [note, version] of versions) {
      if (there.get(note)?.version === version && index.has(note)) continue
      index.delete(note)
      versions.delete(note)
    }
    if (index.size === 0) return undefined
    const documents = index.parts.ids.map((note) => [note, there.get(note)!.name] as const)
    // It contains all rows up to this version, so the next process continues there.
    const head = { embedder: this.#embedder, documents, version: kept.version, newest: "" }
    const places = new Uint32Array(2 * index.size)
    for (let slot = 0; slot < index.size; slot++) places[2 * slot] = slot
    const { dimensions, size: count } = index
    return { head: { ...head, dimensions, count }, index, places, changes: index.changes }
  }
}

const indexFrom = (index: VectorIndex): NoteIndex => ({
  index,
  versions: new Map(),
  ...{ version: 0, filed: 0, filedAt: -Infinity },
  get bytes() {
    return index.bytes + index.size * NUMBERED
  },
})
