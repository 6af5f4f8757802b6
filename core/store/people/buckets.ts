import type { Engine } from "../engine/engine.ts"

/** Of somebody: time that what was used up takes to come back. */
interface Used {
  readonly kind: string
  readonly who: string
  readonly ms: number
}

interface UsedRow extends Used {
  readonly changed_at: number
}

const MINUTE = 60_000
/** Somebody else's commit may be seen later than its time says: so far back is read again. */
const OVERLAP_MS = 5000
/** Read in one look. More change in a second only where strangers make them up. */
const MOST = 10_000
/** Buckets that are full are forgotten with every so manieth exchange. */
const FORGOTTEN_EVERY = 60

/**
 * The buckets that nodes on one database share, each as the moment at which it will be full again. By the clock of the
 * database alone: nodes may disagree about the time. A bucket that is full needs no row.
 */
export class SqlBuckets {
  readonly #engine: Engine
  #seen = 0
  /** Where the last look broke off, with more behind it. Many may have one time, so the time alone is no place. */
  #brokeOff: UsedRow | undefined
  #exchanges = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Whether anybody else uses them. */
  get shared(): boolean {
    return this.#engine.serverTime !== undefined
  }

  /** Adds what was used up here; tells of everybody whose bucket has changed since the last time how much is used up. */
  async exchange(used: readonly Used[]): Promise<Used[]> {
    const time = `time AS MATERIALIZED (SELECT ${this.#engine.serverTime} AS now)`
    // In the order of their keys, so that two nodes never wait for each other.
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
        WHERE (changed_at, kind, who) > (?, ?, ?) ORDER BY changed_at, kind, who LIMIT ${MOST}`,
      values: this.#place(),
    }
    const outcome = await this.#engine.change({
      type: "statements",
      statements: used.length > 0 ? [add, read] : [read],
    })
    const rows = outcome.ok ? (outcome.rows.at(-1) as unknown as UsedRow[]) : []
    const last = rows.at(-1)
    this.#seen = last?.changed_at ?? this.#seen
    // With more than were read the next look goes on behind them: read again they would be the same ones for ever.
    this.#brokeOff = rows.length < MOST ? undefined : last
    if (this.#exchanges++ % FORGOTTEN_EVERY === 0) await this.#forgetFull()
    return rows.map(({ kind, who, ms }) => ({ kind, who, ms }))
  }

  #place(): readonly unknown[] {
    const { changed_at, kind, who } = this.#brokeOff ?? { changed_at: this.#seen - OVERLAP_MS + 1, kind: "", who: "" }
    return [changed_at, kind, who]
  }

  /** Uses one up where there is one, at once and for all nodes; otherwise says in how many milliseconds there is. */
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

  /** Those that others are changing just now are not full. */
  async #forgetFull(): Promise<void> {
    const sql = `DELETE FROM bucket WHERE (kind, who) IN (SELECT kind, who FROM bucket
      WHERE full_at < ${this.#engine.serverTime} LIMIT ${MOST} ${this.#engine.skipLocked})`
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [] }] })
  }
}
