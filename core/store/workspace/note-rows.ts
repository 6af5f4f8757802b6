import type { Engine } from "../engine/engine.ts"
import type { IndexHead } from "../library/index-file.ts"
import { type IndexedRows, IndexFiles } from "../library/index-files.ts"

/** The version of a note's vector, and its name, which combines the version and the hash of the embedded text. */
export interface NoteEdition {
  readonly version: number
  readonly name: string
}

/**
 * Index files of people's notes. Notes change all the time, so a file outlives changes: its reader compares each vector
 * with its row and leaves out changed ones.
 */
export class NoteRows implements IndexedRows {
  readonly outlivesGone = true
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** One vector could not prove that the file matches, because the newest notes change soonest. */
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

  /** The versions of all notes with a vector, without the vectors, which are slow to decode. */
  async editionsOf(person: string, embedder: string): Promise<ReadonlyMap<string, NoteEdition>> {
    const sql = "SELECT note, version, hash FROM note_vector WHERE person = ? AND embedder = ? AND version > 0"
    const rows = await this.#engine.query<{ note: string; version: number; hash: string }>(sql, [person, embedder])
    return new Map(
      rows.map(({ note, version, hash }) => [note, { version: Number(version), name: `${version} ${hash}` }]),
    )
  }
}

/** The index files of this database. */
export const noteFiles = (engine: Engine): IndexFiles | undefined =>
  engine.cacheFolder && new IndexFiles(engine.cacheFolder("note-vectors"), new NoteRows(engine))
