import type { UserId } from "../../protocol/ids.ts"
import { IndexCache, type IndexCacheOptions } from "../../shared/vectors/index-cache.ts"
import { fromText } from "../../shared/vectors/unit.ts"
import { VectorIndex } from "../../shared/vectors/vector-index.ts"
import type { Engine } from "../engine/engine.ts"
import type { FiledIndex } from "../library/index-file.ts"
import type { IndexFiles } from "../library/index-files.ts"
import { type FileState, IndexWriting } from "../library/index-writing.ts"
import { noteFiles, NoteRows } from "./note-rows.ts"

/** The index of a person's notes, in memory. */
export interface NoteIndex extends FileState {
  /** Up to which version of the person's vectors it has been read. */
  version: number
  /** Which version of each note is in it. */
  readonly versions: Map<string, number>
  readonly bytes: number
}

/** How many notes of a person are worth a file of their vectors. */
export type NoteIndexOptions = IndexCacheOptions & { readonly leastFiled?: number }

/** Read at a time: other work gets its turn in between. */
const PAGE = 500
/** What the versions of notes cost beside the index. */
const NUMBERED = 60

/** The indexes that find notes by their vectors, one for each person, in memory; large ones also in a file. */
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

  /** The person's index, up to the newest vector that is committed, whichever node has written it. */
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

  /** To be called when a note is gone from the database: from here on no file holds it. */
  async removed(person: UserId): Promise<void> {
    await this.#files?.remove(person)
    if (this.#kept.owners.includes(person)) this.#kept.of(person, () => indexFrom(new VectorIndex(1))).filed = 0
  }

  /** For what a process that died had not removed any more, and what another node has removed. */
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

  /** As far as the rows say the same. Undefined where there is none, or a row from before it is not in it: then it is of others. */
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
    // One with something in it that is gone is not left lying.
    const isWhole = kept.versions.size === head.documents.length
    if (!isTheirs || !isWhole) await this.#files?.remove(person)
    if (!isTheirs) return undefined
    // A restored database gives numbers of the file's once more: what comes under them is still to be read.
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

  /** What was removed, or written anew and not met since, is still in memory: it is not written down. */
  async #toFile(person: UserId, kept: NoteIndex): Promise<FiledIndex | "changed" | undefined> {
    const { index, versions, version: before } = kept
    const there = await this.#rows.editionsOf(person, this.#embedder)
    // What was read since they were asked for is not among them, and would be taken for gone.
    if (kept.version !== before) return "changed"
    for (const [note, version] of versions) {
      if (there.get(note)?.version === version && index.has(note)) continue
      index.delete(note)
      versions.delete(note)
    }
    if (index.size === 0) return undefined
    const documents = index.parts.ids.map((note) => [note, there.get(note)!.name] as const)
    // All rows up to here are in it: the next process reads on from here.
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
