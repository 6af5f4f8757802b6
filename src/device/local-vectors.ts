import type { DatabaseSync } from "node:sqlite"
import { z } from "zod"
import { inTransaction } from "./open-database.ts"
import { read, readId } from "../workspace/read-input.ts"

export interface Found {
  readonly id: string
  readonly content: string
  /** Cosine: 1 for the same direction, 0 for nothing in common. */
  readonly score: number
}

const MAX_RESULTS = 100
const USUAL_RESULTS = 10

/**
 * The notes of this device by meaning. Each search looks at every vector: a tenth of a second for ten thousand notes, and
 * never a near one that is missed.
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
        .run(id, projectId, content, toBlob(toUnit(numbers)))
    })
  }

  delete(id: unknown): void {
    this.#db.prepare(`DELETE FROM "pawlVector" WHERE id = ?`).run(readId(id))
  }

  search(vector: unknown, limit: unknown, filters: unknown = {}): Found[] {
    const wanted = toUnit(read(Vector, vector, "vector"))
    const most = read(Limit, limit, "limit") ?? USUAL_RESULTS
    const { projectId } = read(Filters, filters, "The filters of vector_search")
    // A note may have moved to another project since its content was indexed.
    const project = "CASE WHEN note.id IS NULL THEN entry.projectId ELSE note.projectId END"
    const [from, values] =
      projectId == null
        ? [`"pawlVector" entry`, []]
        : [`"pawlVector" entry LEFT JOIN notes note ON note.id = entry.id WHERE ${project} = ?`, [projectId]]
    const rows = this.#db.prepare(`SELECT entry.id, entry.vector FROM ${from}`).iterate(...values)
    const scores: { id: string; score: number }[] = []
    for (const row of rows) {
      const { id, vector: blob } = row as unknown as { id: string; vector: Uint8Array }
      // One of another length comes from another embedder: the two cannot be compared.
      if (blob.byteLength === wanted.byteLength) scores.push({ id, score: dot(wanted, fromBlob(blob)) })
    }
    const content = this.#db.prepare(`SELECT content FROM "pawlVector" WHERE id = ?`)
    return scores
      .sort((a, b) => b.score - a.score)
      .slice(0, most)
      .map(({ id, score }) => ({ id, content: String(content.get(id)?.content), score }))
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

function toBlob(vector: Float32Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(vector.buffer)
}

function fromBlob(blob: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = blob
  // A float may only begin at every fourth byte.
  return byteOffset % 4 === 0 ? new Float32Array(buffer, byteOffset, byteLength / 4) : fromBlob(blob.slice())
}

/** Of length 1, as they are kept: a cosine is one multiplication then. */
function toUnit(numbers: readonly number[]): Float32Array<ArrayBuffer> {
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => (length === 0 ? 0 : number / length))
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
