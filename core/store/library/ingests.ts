import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import type { CollectionId, UserId } from "../../protocol/ids.ts"
import type { IngestingCollection, IngestProgress } from "../../protocol/library.ts"
import type { Ingests } from "../../engine/library.ts"
import type { Engine } from "../engine/engine.ts"
import { toTime } from "../engine/row-values.ts"
import { Pace } from "./pace.ts"

/** Why this process cannot embed at the moment, since when on the monotonic clock, and until when. */
export interface IngestTrouble {
  readonly problem: string
  readonly since: number
  readonly retryAt: number
}

interface Row {
  readonly id: CollectionId
  readonly name: string
  readonly passages: number
  readonly documents: number
  readonly waiting: number
  readonly made: number
}

/** Collections whose pace is cached. */
const MAX_PACES = 1000

/**
 * The progress of collections that are being ingested. It is queried from the database, whichever process does the
 * work. The speed is measured between queries, so it needs no records.
 */
export class SqlIngests implements Ingests {
  readonly #engine: Engine
  readonly #embedder: string
  readonly #clock: Clock
  readonly #paces = new Map<CollectionId, Pace>()
  readonly #watchers = new Map<UserId, Set<() => void>>()
  /** Set by the process's indexer. */
  trouble: IngestTrouble | undefined

  constructor(engine: Engine, embedder: string, clock: Clock) {
    this.#engine = engine
    this.#embedder = embedder
    this.#clock = clock
  }

  async of(user: UserId): Promise<IngestingCollection[]> {
    // `vectors` only grows, even if documents are removed.
    const sql = `SELECT collection.id, collection.name, collection.passages, collection.vectors AS made, w.documents, w.waiting
      FROM (SELECT collection, count(*) AS documents, sum(passages - embedded) AS waiting FROM embedding
        WHERE embedder = ? AND embedded < passages AND person = ? GROUP BY collection) w
      JOIN collection ON collection.id = w.collection WHERE collection.person = ? ORDER BY collection.id DESC`
    const rows = await this.#engine.query<Row>(sql, [this.#embedder, user, user])
    return rows.map((row) => ({ collectionId: row.id, name: row.name, progress: this.#progressOf(row) }))
  }

  watch(user: UserId, listener: () => void): () => void {
    const listeners = this.#watchers.get(user) ?? new Set()
    this.#watchers.set(user, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      // A second call must not remove the listeners of later callers.
      if (listeners.size === 0 && this.#watchers.get(user) === listeners) this.#watchers.delete(user)
    }
  }

  tell(user: UserId): void {
    for (const listener of this.#watchers.get(user) ?? []) listener()
  }

  #progressOf({ id, passages, documents, waiting, made }: Row): IngestProgress {
    const at = monotonicOf(this.#clock)
    const pace = this.#paceOf(id)
    pace.see(Number(made), at)
    // If another process makes progress, this one's trouble does not matter.
    const trouble = pace.steppedAt > (this.trouble?.since ?? Infinity) ? undefined : this.trouble
    const secondsLeft = trouble ? undefined : pace.secondsFor(Number(waiting), at)
    return {
      documents: Number(documents),
      // While a document is replaced, both of its editions may wait.
      embedded: Math.max(0, Number(passages) - Number(waiting)),
      passages: Number(passages),
      ...(secondsLeft === undefined ? {} : { secondsLeft }),
      ...(trouble ? { problem: trouble.problem, retryAt: toTime(trouble.retryAt) } : {}),
    }
  }

  #paceOf(id: CollectionId): Pace {
    const pace = this.#paces.get(id) ?? new Pace()
    this.#paces.delete(id)
    this.#paces.set(id, pace)
    const [oldest] = this.#paces.keys()
    if (oldest !== undefined && this.#paces.size > MAX_PACES) this.#paces.delete(oldest)
    return pace
  }
}
