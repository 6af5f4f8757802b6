import type { Engine } from "../engine/engine.ts"
import type { IndexHead } from "../library/index-file.ts"
import { type IndexedRows, IndexFiles } from "../library/index-files.ts"

/** Under which number a note has its vector, and that with the hash of what the vector was made of. */
export interface NoteEdition {
  readonly version: number
  readonly name: string
}

/**
 * Files of people's notes: a vector is a note in an edition. Notes are written anew all the time, so a file outlives that: whoever
 * reads it holds each vector against its row, and leaves out what is another by now.
 */
export class NoteRows implements IndexedRows {
  readonly outlivesGone = true
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** By one of them it could not be told: the newest notes are those that are written anew soonest. */
  async goodUpTo(_: string, { version }: IndexHead): Promise<number> {
    return version
  }

  async hasGone(person: string, documents: IndexHead["documents"]): Promise<boolean> {
    const sql = "SELECT note FROM note_vector WHERE person = ?"
    const rows = await this.#engine.query<{ note: string }>(sql, [person])
    const there = new Set(rows.map(({ note }) => note))
    return documents.some(([note]) => !there.has(note))
  }

  idOf([note]: IndexHead["documents"][number]): string {
    return note
  }

  /** Of all notes that have a vector. Without the vectors, which are most of what a row holds to be decoded. */
  async editionsOf(person: string, embedder: string): Promise<ReadonlyMap<string, NoteEdition>> {
    const sql = "SELECT note, version, hash FROM note_vector WHERE person = ? AND embedder = ? AND version > 0"
    const rows = await this.#engine.query<{ note: string; version: number; hash: string }>(sql, [person, embedder])
    return new Map(
      rows.map(({ note, version, hash }) => [note, { version: Number(version), name: `${version} ${hash}` }]),
    )
  }
}

/** Where this database has them. */
export const noteFiles = (engine: Engine): IndexFiles | undefined =>
  engine.cacheFolder && new IndexFiles(engine.cacheFolder("note-vectors"), new NoteRows(engine))
