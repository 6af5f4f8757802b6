import type { Engine } from "../engine/engine.ts"

/** How much of a rate limit was used, as the time that it takes to refill. */
interface BucketUse {
  readonly kind: string
  readonly who: string
  readonly ms: number
}

interface BucketRow extends BucketUse {
  readonly changed_at: number
}

const MINUTE = 60_000
/** A commit may become visible later than its time, so changes are read again from this long ago. */
const OVERLAP_MS = 5000
/** The maximum rows of one read. More change within a second only if strangers invent names. */
const MAX_ROWS = 10_000
/** Full buckets are deleted once in this many exchanges. */
const CLEANUP_EVERY = 60

/**
 * Rate-limit buckets that the nodes of a database share. Each is stored as the time at which it is full again, by the
 * database's clock, because nodes may disagree about the time. A full bucket needs no row.
 */
export class SqlBuckets {
  readonly #engine: Engine
  #readUpTo = 0
  /**
   * The last row of the last read, if there was more. Several rows may have one time, so the time alone is not a
   * position.
   */
  #stoppedAt: BucketRow | undefined
  #exchanges = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Whether other nodes use them. */
  get shared(): boolean {
    return this.#engine.serverTime !== undefined
  }

  /** Adds local use, and returns how much is used of each bucket that changed since the last exchange. */
  async exchange(used: readonly BucketUse[]): Promise<BucketUse[]> {
    const time = `time AS MATERIALIZED (SELECT ${this.#engine.serverTime} AS now)`
    // In the order of their keys, so that two nodes cannot deadlock.
    const add = {
      sql: `WITH ${time}
        INSERT INTO bucket (kind, who, full_at, changed_at)
          SELECT kind, who, now + ms, now FROM time, unnest(?::text[], ?::text[], ?::float8[]) AS used (kind, who, ms)
          ORDER BY kind, who
        ON CONFLICT (kind, who) DO UPDATE SET changed_at = greatest(bucket.changed_at, excluded.changed_at),
          full_at = greatest(bucket.full_at, excluded.changed_at) + excluded.full_at - excluded.changed_at`,
      values: [used.map(({ kind }) => kind), used.map(({ who }) => who), used.map(({ ms }) => ms)],
    }
    const read = {
      sql: `WITH ${time} SELECT kind, who, greatest(0, full_at - now) AS ms, changed_at FROM bucket, time
        WHERE (changed_at, kind, who) > (?, ?, ?) ORDER BY changed_at, kind, who LIMIT ${MAX_ROWS}`,
      values: this.#position(),
    }
    const outcome = await this.#engine.change({
      type: "statements",
      statements: used.length > 0 ? [add, read] : [read],
    })
    const rows = outcome.ok ? (outcome.rows.at(-1) as unknown as BucketRow[]) : []
    const last = rows.at(-1)
    this.#readUpTo = last?.changed_at ?? this.#readUpTo
    // If there were more rows than one read returns, the next read starts after them.
    this.#stoppedAt = rows.length < MAX_ROWS ? undefined : last
    if (this.#exchanges++ % CLEANUP_EVERY === 0) await this.#deleteFull()
    return rows.map(({ kind, who, ms }) => ({ kind, who, ms }))
  }

  #position(): readonly unknown[] {
    const { changed_at, kind, who } = this.#stoppedAt ?? {
      changed_at: this.#readUpTo - OVERLAP_MS + 1,
      kind: "",
      who: "",
    }
    return [changed_at, kind, who]
  }

  /** Consumes one for all nodes, or returns in how many milliseconds that is possible. */
  async take(kind: string, who: string, eachMs: number): Promise<number> {
    const time = `time AS MATERIALIZED (SELECT ${this.#engine.serverTime} AS now)`
    const take = {
      sql: `WITH ${time}
        INSERT INTO bucket (kind, who, full_at, changed_at) SELECT ?, ?, now + ?, now FROM time
        ON CONFLICT (kind, who) DO UPDATE SET changed_at = greatest(bucket.changed_at, excluded.changed_at),
          full_at = greatest(bucket.full_at, excluded.changed_at) + excluded.full_at - excluded.changed_at
          WHERE greatest(bucket.full_at, excluded.changed_at) + excluded.full_at - excluded.changed_at
            <= excluded.changed_at + ${MINUTE}
        RETURNING who`,
      values: [kind, who, eachMs],
    }
    const wait = {
      sql: `WITH ${time} SELECT full_at + ? - now - ${MINUTE} AS ms FROM bucket, time WHERE kind = ? AND who = ?`,
      values: [eachMs, kind, who],
    }
    const outcome = await this.#engine.change({ type: "statements", statements: [take, wait] })
    if (!outcome.ok || (outcome.rows[0]?.length ?? 0) > 0) return 0
    return Math.max(1, Number(outcome.rows[1]?.[0]?.["ms"] ?? 1))
  }

  /** Buckets that other nodes are changing are not full. */
  async #deleteFull(): Promise<void> {
    const sql = `DELETE FROM bucket WHERE (kind, who) IN (SELECT kind, who FROM bucket
      WHERE full_at < ${this.#engine.serverTime} LIMIT ${MAX_ROWS} ${this.#engine.skipLocked})`
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [] }] })
  }
}
