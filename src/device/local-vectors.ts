import type { DatabaseSync } from "node:sqlite"
import { z } from "zod"
import { inTransaction } from "./open-database.ts"
import { read, readId } from "./read-input.ts"

export interface Found {
  readonly id: string
  readonly content: string
  /** Cosine: 1 for the same direction, 0 for nothing in common. */
  readonly score: number
}

const MAX_RESULTS = 100
const USUAL_RESULTS = 10

/**
 * The notes of this device by meaning. Every vector is looked at for every search, which takes some ten milliseconds for
 * ten thousand notes; an index that answers approximately would pay from a hundred times as many on.
 */
export class LocalVectors {
  readonly #db: DatabaseSync

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  upsert(given: unknown, vector: unknown): void {
    const { id, projectId = null, content } = read(Entry, given, "A vector")
    const numbers = read(Vector, vector, "vector")
    inTransaction(this.#db, () => {
      this.#db
        .prepare(
          `INSERT INTO "pawlVector" (id, projectId, content, vector) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
           SET projectId = excluded.projectId, content = excluded.content, vector = excluded.vector`,
        )
        .run(id, projectId, content, toBlob(numbers))
    })
  }

  delete(id: unknown): void {
    this.#db.prepare(`DELETE FROM "pawlVector" WHERE id = ?`).run(readId(id))
  }

  search(vector: unknown, limit: unknown, filters: unknown = {}): Found[] {
    const wanted = toUnit(Float32Array.from(read(Vector, vector, "vector")))
    const most = read(Limit, limit, "limit") ?? USUAL_RESULTS
    const { projectId } = read(Filters, filters, "The filters of vector_search")
    // A note may have moved to another project since its content was indexed.
    const project = "CASE WHEN note.id IS NULL THEN entry.projectId ELSE note.projectId END"
    const where = projectId == null ? "" : `WHERE ${project} = ?`
    const sql = `SELECT entry.id, entry.content, entry.vector FROM "pawlVector" entry LEFT JOIN notes note ON note.id = entry.id ${where}`
    const found: Found[] = []
    for (const row of this.#db.prepare(sql).iterate(...(projectId == null ? [] : [projectId]))) {
      const { id, content, vector: blob } = row as { id: string; content: string; vector: Uint8Array }
      // One of another length comes from another embedder: the two cannot be compared.
      if (blob.byteLength !== wanted.byteLength) continue
      found.push({ id, content, score: dot(wanted, toUnit(fromBlob(blob))) })
    }
    return found.sort((a, b) => b.score - a.score).slice(0, most)
  }
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

const toBlob = (numbers: readonly number[]) => new Uint8Array(Float32Array.from(numbers).buffer)

function fromBlob(blob: Uint8Array): Float32Array {
  // A copy: what SQLite hands out need not begin where a float may.
  return new Float32Array(blob.slice().buffer)
}

function toUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector))
  return length === 0 ? vector : vector.map((number) => number / length)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
