import type { CollectionId, DocumentId, EditionId, UserId } from "../../protocol/ids.ts"
import type { IndexCacheOptions } from "../../shared/vectors/index-cache.ts"
import { toBase64, toUnit } from "../../shared/vectors/unit.ts"
import { inPortions } from "../../workspace/layout.ts"
import { inserts } from "./editions.ts"
import { EmbeddingClaims, type WaitingPerson } from "./embedding-claims.ts"
import { type PassageIndex, PassageIndexes } from "./passage-indexes.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"

/** Passages of an edition that wait for their vectors, from `embedded` on. */
export interface WaitingPassages {
  readonly person: UserId
  readonly edition: EditionId
  readonly collection: CollectionId
  readonly document: DocumentId
  readonly embedded: number
}

export interface WaitingPassage {
  readonly ordinal: number
  readonly heading: string
  readonly text: string
  readonly title: string
}

/** Consecutive passages of an edition with their vectors, if the embedder accepted them. */
export interface EmbeddedPassages extends WaitingPassages {
  readonly vectors: readonly (Float32Array | undefined)[]
}

/** Read at a time, so that other work gets its turn. */
const PAGE = 500
const SWEEP_ROWS = 2000
const DAY = 24 * 60 * 60_000
const TABLE = {
  ...{ name: "embedding", key: "edition", keyHasPerson: true, waits: "embedded < passages", order: "at, edition" },
  columns: "person, edition, collection, document, embedded",
}

export interface NearestQuery {
  readonly collections: readonly CollectionId[]
  readonly numbers: readonly number[]
  readonly limit: number
  /** Only passages of these documents. */
  readonly among?: readonly DocumentId[]
}

export interface NearestPassages {
  readonly ids: readonly string[]
  /** How many passages of the collections have a vector. */
  readonly embedded: number
  hasVector(id: string): boolean
}

/** The vectors of passages. */
export class PassageVectors {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #indexes: PassageIndexes
  readonly embedder: string
  readonly #claims: EmbeddingClaims<WaitingPassages>

  constructor(engine: Engine, embedder: string, options: IndexCacheOptions & { readonly leastFiled?: number }) {
    this.#engine = engine
    this.embedder = embedder
    this.#now = () => options.clock.now()
    this.#indexes = new PassageIndexes(engine, embedder, options)
    this.#claims = new EmbeddingClaims(engine, TABLE, { embedder, now: this.#now })
  }

  /**
   * Passages by their distance, nearest first. Some may belong to replaced editions: the caller drops these when it
   * reads them.
   */
  async nearest({ collections, numbers, limit, among }: NearestQuery): Promise<NearestPassages> {
    const query = toUnit(numbers)
    const found: { id: string; score: number }[] = []
    const indexes: PassageIndex["index"][] = []
    for (const collection of collections) {
      const kept = await this.#indexes.current(collection, query.length)
      indexes.push(kept.index)
      const passages = among?.flatMap((id) => kept.documents.get(id)?.passages ?? [])
      found.push(...kept.index.nearest(query, limit, passages))
    }
    const ids = found
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ id }) => id)
    const embedded = indexes.reduce((sum, { size }) => sum + size, 0)
    return { ids, embedded, hasVector: (id) => indexes.some((index) => index.has(id)) }
  }

  get indexes(): PassageIndexes {
    return this.#indexes
  }

  /** Stores vectors in one commit; false if an edition was deleted or another process was faster. */
  async keep(all: readonly EmbeddedPassages[]): Promise<boolean> {
    // In the order of collections, so that two nodes cannot deadlock.
    const ordered = [...all].sort((a, b) => (a.collection < b.collection ? -1 : Number(a.collection > b.collection)))
    const statements = ordered.flatMap((group) => this.#storeStatements(group))
    return (await this.#engine.change({ type: "statements", statements })).ok
  }

  #storeStatements({ person, edition, collection, document, embedded, vectors }: EmbeddedPassages): Statement[] {
    const count = vectors.length
    // A version per vector, so that incremental readers miss none.
    const row = "(?, ?, ?, ?, ?, ?, (SELECT vectors FROM collection WHERE id = ?) - ?, ?)"
    const rows = vectors.flatMap((vector, i) =>
      vector
        ? [
            [
              person,
              edition,
              embedded + i,
              this.embedder,
              collection,
              document,
              collection,
              count - i - 1,
              toBase64(toUnit(vector)),
            ],
          ]
        : [],
    )
    const columns = "person, edition, ordinal, embedder, collection, document, version, vector"
    return [
      {
        sql: "UPDATE collection SET vectors = vectors + ? WHERE id = ?",
        values: [count, collection],
        mustChange: true,
      },
      {
        sql: `UPDATE embedding SET embedded = embedded + ?, at = ?, claimed_by = NULL, claimed_until = 0
          WHERE person = ? AND edition = ? AND embedder = ? AND embedded = ?`,
        values: [count, this.#now(), person, edition, this.embedder, embedded],
        mustChange: true,
      },
      ...inserts(`passage_vector (${columns})`, rows, row),
    ]
  }

  waitingPeople(): Promise<WaitingPerson[]> {
    return this.#claims.people()
  }

  claim(person: UserId, limit: number): Promise<WaitingPassages[]> {
    return this.#claims.claim(person, limit)
  }

  /** Releases claims, so that other processes can continue. */
  async release(some: readonly Pick<WaitingPassages, "person" | "edition">[]): Promise<void> {
    for (const [person, items] of Map.groupBy(some, (each) => each.person))
      await this.#claims.release(
        person,
        items.map(({ edition }) => edition),
      )
  }

  releaseStale(): Promise<void> {
    return this.#claims.releaseStale()
  }

  /** How many passages of all people have no vector yet. */
  async waitingCount(): Promise<number> {
    const sql =
      "SELECT coalesce(sum(passages - embedded), 0) AS n FROM embedding WHERE embedder = ? AND embedded < passages"
    return Number((await this.#engine.query<{ n: number }>(sql, [this.embedder]))[0]?.n ?? 0)
  }

  async passagesOf({ person, edition, embedded }: WaitingPassages, limit: number): Promise<WaitingPassage[]> {
    const sql = `SELECT passage.ordinal, passage.heading, passage.text, document.title FROM passage
      JOIN document ON document.id = passage.document WHERE passage.person = ? AND passage.edition = ?
      AND passage.ordinal >= ? ORDER BY passage.ordinal LIMIT ?`
    return this.#engine.query<WaitingPassage>(sql, [person, edition, embedded, limit])
  }

  async drop({ person, edition }: WaitingPassages): Promise<void> {
    const sql = "DELETE FROM embedding WHERE person = ? AND edition = ? AND embedder = ?"
    const statements = [{ sql, values: [person, edition, this.embedder] }]
    await this.#engine.change({ type: "statements", statements })
  }

  /** Finds documents that have not been queued for this embedder. Some at a time; true if none are left. */
  async sweep(): Promise<boolean> {
    const sql = `INSERT INTO embedding (person, edition, embedder, collection, document, embedded, passages, at)
      SELECT person, edition, ?, collection, id, 0, passages, ? FROM document WHERE edition <> '' AND NOT EXISTS
        (SELECT 1 FROM embedding WHERE embedding.person = document.person AND embedding.edition = document.edition
          AND embedder = ?) LIMIT ?
      ON CONFLICT (person, edition, embedder) DO NOTHING RETURNING edition`
    const values = [this.embedder, this.#now(), this.embedder, SWEEP_ROWS]
    const outcome = await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    return !outcome.ok || (outcome.rows[0]?.length ?? 0) < SWEEP_ROWS
  }

  /** Deletes vectors of previous embedders, except those that another node may still use. */
  async deleteOtherEmbedders(signal: AbortSignal): Promise<void> {
    const sql = "SELECT person, edition, embedder FROM embedding WHERE embedder <> ? AND at < ? LIMIT ?"
    for (;;) {
      const values = [this.embedder, this.#now() - DAY, PAGE]
      const old = await this.#engine.query<{ person: string; edition: string; embedder: string }>(sql, values)
      for (const { person, edition, embedder } of old) {
        if (signal.aborted) return
        const statements = ["passage_vector", "embedding"].map((table) => ({
          sql: `DELETE FROM ${table} WHERE person = ? AND edition = ? AND embedder = ?`,
          values: [person, edition, embedder],
        }))
        await this.#engine.change({ type: "statements", statements })
      }
      if (old.length < PAGE) return
    }
  }

  /** Which documents have a date in this range. */
  async dated(
    collections: readonly CollectionId[],
    { from, to }: { from?: number; to?: number },
  ): Promise<DocumentId[]> {
    const rows = await Promise.all(
      inPortions(collections).map((some) => {
        const sql = `SELECT id FROM document WHERE collection IN (${some.map(() => "?").join(", ")})
          AND day >= ? AND day <= ?`
        return this.#engine.query<{ id: DocumentId }>(sql, [...some, from ?? 0, to ?? 99_999_999])
      }),
    )
    return rows.flat().map(({ id }) => id)
  }
}
