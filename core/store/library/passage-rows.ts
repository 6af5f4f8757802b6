import type { Engine } from "../engine/engine.ts"
import { passageId } from "./editions.ts"
import type { IndexHead } from "./index-file.ts"
import type { IndexedRows } from "./index-files.ts"

/** Index files of collections. A deleted document invalidates the whole file. */
export class PassageRows implements IndexedRows {
  readonly outlivesGone = false
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async goodUpTo(collection: string, { embedder, version, newest }: IndexHead): Promise<number | undefined> {
    const sql = "SELECT edition, ordinal FROM passage_vector WHERE collection = ? AND embedder = ? AND version = ?"
    const [row] = await this.#engine.query<{ edition: string; ordinal: number }>(sql, [collection, embedder, version])
    return row && `${row.edition} ${row.ordinal}` === newest ? version : undefined
  }

  async hasGone(collection: string, documents: IndexHead["documents"]): Promise<boolean> {
    const there = await this.editionsOf(collection)
    return documents.some(([, edition]) => !there.has(edition))
  }

  idOf([, edition]: IndexHead["documents"][number], ordinal: number): string {
    return passageId(edition, ordinal)
  }

  /** The current editions. */
  async editionsOf(collection: string): Promise<ReadonlySet<string>> {
    const sql = "SELECT edition FROM document WHERE collection = ?"
    const rows = await this.#engine.query<{ edition: string }>(sql, [collection])
    return new Set(rows.map(({ edition }) => edition))
  }
}
