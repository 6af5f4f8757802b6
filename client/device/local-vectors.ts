import type { DatabaseSync } from "node:sqlite"
import { z } from "zod"
import type { ClientClock } from "../clock.ts"
import { IndexCache } from "../../core/shared/vectors/index-cache.ts"
import { fromBytes, rank, toBytes, toUnit } from "../../core/shared/vectors/unit.ts"
import { VectorIndex } from "../../core/shared/vectors/vector-index.ts"
import { parseInput, readId } from "../../core/workspace/read-input.ts"
import { inTransaction } from "./open-database.ts"

/** A note that semantic search found on a device, with its similarity to the query. */
export interface VectorMatch {
  readonly id: string
  readonly content: string
  /** Cosine similarity: 1 for the same direction, 0 for nothing in common. */
  readonly score: number
}

/** A note whose vector is missing or outdated. */
interface StaleNote {
  readonly id: string
  readonly projectId: string | null
  readonly title: string
  readonly content: string
}

const MAX_RESULTS = 100
const USUAL_RESULTS = 10
/**
 * More candidates than needed are read from the index, because its order is slightly inexact and some rows may be
 * deleted.
 */
const SPARE = 30

/**
 * Semantic search in the notes of this device. The file is the source of truth. An index is built at the first search
 * and cached while there are searches; its candidates are checked against the file.
 */
export class LocalVectors {
  readonly #db: DatabaseSync
  readonly #kept: IndexCache<VectorIndex>
  /** The dimensions of the server's current embedder, if known. */
  #dimensions: number | undefined

  constructor(db: DatabaseSync, clock: ClientClock = unheld) {
    this.#db = db
    this.#kept = new IndexCache({ clock })
  }

  upsert(note: unknown, vector: unknown): void {
    const { id, projectId = null, content } = parseInput(Entry, note, "A vector")
    const unit = toUnit(parseInput(Vector, vector, "vector"))
    inTransaction(this.#db, () => {
      // The title is stored as it is now: if it or the content changes, the vector is outdated.
      this.#db
        .prepare(
          `INSERT INTO "pawlVector" (id, projectId, content, vector, title)
           VALUES (?, ?, ?, ?, (SELECT title FROM notes WHERE id = ?)) ON CONFLICT (id) DO UPDATE SET
           projectId = excluded.projectId, content = excluded.content, vector = excluded.vector, title = excluded.title`,
        )
        .run(id, projectId, content, toBytes(unit), id)
    })
    this.#dimensions = unit.length
    // An outer transaction may still roll back: then the index has an extra entry, which the search detects.
    for (const length of this.#kept.owners) {
      const index = this.#index(Number(length))
      if (index.dimensions === unit.length) index.set(id, unit)
      else index.delete(id)
    }
  }

  delete(id: unknown): void {
    this.#db.prepare(`DELETE FROM "pawlVector" WHERE id = ?`).run(readId(id))
  }

  search(vector: unknown, limit: unknown, filters: unknown = {}): VectorMatch[] {
    const wanted = toUnit(parseInput(Vector, vector, "vector"))
    const most = parseInput(Limit, limit, "limit") ?? USUAL_RESULTS
    const { projectId } = parseInput(Filters, filters, "The filters of vector_search")
    this.#dimensions = wanted.length
    const index = this.#index(wanted.length)
    const among = projectId == null ? undefined : this.#inProject(projectId)
    for (;;) {
      const near = index.nearest(wanted, most + SPARE, among)
      const rows = near.flatMap(({ id }) => this.#row(id, wanted.length) ?? [])
      // Candidates that are no longer in the file are removed, and the search is repeated if it lost results to them.
      const there = new Set(rows.map(({ id }) => id))
      const gone = near.filter(({ id }) => !there.has(id))
      for (const { id } of gone) index.delete(id)
      if (gone.length > 0 && rows.length < most && near.length === most + SPARE) continue
      return rank(wanted, rows, most).map(({ id, content, score }) => ({ id, content, score }))
    }
  }

  /** Returns notes whose vector is missing, outdated, or of another embedder than the server's. */
  stale(limit: number): StaleNote[] {
    const rows = this.#db
      .prepare(
        `SELECT note.id, note.projectId, note.title, note.content FROM notes note
         LEFT JOIN "pawlVector" entry ON entry.id = note.id
         WHERE entry.id IS NULL OR entry.content IS NOT note.content OR entry.title IS NOT note.title
         OR length(entry.vector) <> coalesce(?, length(entry.vector)) ORDER BY note.updatedAt DESC LIMIT ?`,
      )
      .all(this.#dimensions === undefined ? null : this.#dimensions * Float32Array.BYTES_PER_ELEMENT, limit)
    return rows.map((row) => ({ ...row })) as unknown as StaleNote[]
  }

  #index(dimensions: number): VectorIndex {
    return this.#kept.of(String(dimensions), () => {
      const index = new VectorIndex(dimensions)
      // A vector of another length is from another embedder and cannot be compared.
      const rows = this.#db.prepare(`SELECT id, vector FROM "pawlVector" WHERE length(vector) = ? ORDER BY rowid`)
      for (const row of rows.iterate(dimensions * Float32Array.BYTES_PER_ELEMENT)) {
        const { id, vector } = row as unknown as { id: string; vector: Uint8Array }
        index.set(id, fromBytes(vector))
      }
      return index
    })
  }

  #row(id: string, dimensions: number) {
    const row = this.#db.prepare(`SELECT content, vector FROM "pawlVector" WHERE id = ?`).get(id)
    if (!row) return undefined
    const vector = fromBytes(row.vector as Uint8Array)
    return vector.length === dimensions ? { id, content: String(row.content), vector } : undefined
  }

  /** A note may have moved to another project since it was indexed. */
  #inProject(projectId: string): string[] {
    const project = "CASE WHEN note.id IS NULL THEN entry.projectId ELSE note.projectId END"
    const rows = this.#db
      .prepare(
        `SELECT entry.id FROM "pawlVector" entry LEFT JOIN notes note ON note.id = entry.id WHERE ${project} = ?`,
      )
      .all(projectId)
    return rows.map(({ id }) => String(id))
  }
}

/** Timers that do not keep the process alive. */
const unheld: ClientClock = {
  now: () => Date.now(),
  alarm(ms, ring) {
    const timer = setTimeout(ring, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

const Vector = z
  .array(z.number().refine((number) => Number.isFinite(Math.fround(number))))
  .min(1)
  .max(16_384)
const Entry = z.strictObject({
  id: z.string().min(1).max(200),
  projectId: z.string().max(200).nullish(),
  content: z.string(),
})
const Limit = z.number().int().min(1).max(MAX_RESULTS).nullish()
const Filters = z.strictObject({ projectId: z.string().nullish() })
