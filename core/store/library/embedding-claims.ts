import { randomUUID } from "node:crypto"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** Longer than some texts take on a slow machine. The claims of a killed process end after this. */
const CLAIMED_MS = 2 * 60_000

/** The prefix of owners that hold the lock of their database. */
const LOCK_HOLDER = "locked "
const owners = new WeakMap<Engine, string>()

/** One name for all claims through the same open database, which live and end together. */
function ownerOf(engine: Engine): string {
  const name = owners.get(engine) ?? `${engine.exclusive ? LOCK_HOLDER : ""}${randomUUID()}`
  owners.set(engine, name)
  return name
}

/**
 * A table of items that wait for vectors, with `person`, `embedder`, `at`, `claimed_by` and `claimed_until`, and an
 * index of the waiting ones by embedder, person and time.
 */
export interface WaitingTable {
  readonly name: string
  /** Identifies an item, together with the embedder. */
  readonly key: string
  /** Whether the primary key starts with the person. If not, a condition on the person would use another index. */
  readonly keyHasPerson: boolean
  /** The condition of the partial index, word for word: otherwise it would not be used. */
  readonly waits: string
  readonly order: string
  readonly columns: string
}

export interface WaitingPerson {
  readonly person: UserId
  /** Some of their items are not claimed. */
  readonly isFree: boolean
}

/**
 * Claims on items that wait for vectors. A claim is a lease: no other process starts on the item before the claim is
 * released or expires.
 */
export class EmbeddingClaims<Row> {
  readonly #engine: Engine
  readonly #table: WaitingTable
  readonly #embedder: string
  readonly #now: () => number
  readonly #claimer: string

  constructor(engine: Engine, table: WaitingTable, { embedder, now }: { embedder: string; now: () => number }) {
    this.#engine = engine
    this.#table = table
    this.#embedder = embedder
    this.#now = now
    this.#claimer = `${ownerOf(engine)} ${randomUUID()}`
  }

  /**
   * Releases the claims of the previous holder of the database's lock, which must have ended. Claims of processes
   * without the lock, such as a command next to a server, expire by themselves.
   */
  async releaseStale(): Promise<void> {
    if (!this.#engine.exclusive) return
    const sql = `UPDATE ${this.#table.name} SET claimed_by = NULL, claimed_until = 0 WHERE embedder = ? AND ${this.#table.waits}
      AND claimed_by LIKE ? AND claimed_by NOT LIKE ?`
    const values = [this.#embedder, `${LOCK_HOLDER}%`, `${ownerOf(this.#engine)}%`]
    const statements = [{ sql, values }]
    await this.#engine.change({ type: "statements", statements })
  }

  /** People with waiting items; first those with unclaimed ones, the longest waiting first. */
  async people(): Promise<WaitingPerson[]> {
    const { name, waits } = this.#table
    // Steps from one person to the next: it runs for every few items, and would otherwise scan all of them.
    const next = `SELECT min(person) FROM ${name} WHERE embedder = ? AND ${waits}`
    const sql = `WITH RECURSIVE waiting (person) AS (${next} UNION ALL
        SELECT (${next} AND ${name}.person > waiting.person) FROM waiting WHERE person IS NOT NULL),
      longest (person, since) AS (SELECT person,
        (SELECT min(at) FROM ${name} WHERE ${name}.person = waiting.person AND ${this.#unclaimed}) FROM waiting)
      SELECT person, since FROM longest WHERE person IS NOT NULL ORDER BY since IS NULL, since, person`
    const values = [this.#embedder, this.#embedder, this.#embedder, this.#now()]
    const rows = await this.#engine.query<{ person: UserId; since: number | null }>(sql, values)
    return rows.map(({ person, since }) => ({ person, isFree: since !== null }))
  }

  /** Claims waiting items of a person. */
  async claim(person: UserId, limit: number): Promise<Row[]> {
    const { name, key, waits, order, columns } = this.#table
    const now = this.#now()
    // Chosen by a separate query, because PostgreSQL would choose again for every row. Of concurrent claims on an item
    // the first wins.
    const choice = `SELECT ${key} AS key FROM ${name} WHERE person = ? AND ${this.#unclaimed} ORDER BY ${order} LIMIT ?`
    const chosen = await this.#engine.query<{ key: string }>(choice, [person, this.#embedder, now, limit])
    const keys = chosen.map((row) => row.key)
    if (keys.length === 0) return []
    const some = this.#rowsWith(person, keys)
    // In a CASE, so that the index of waiting items is not used for a few keys.
    const sql = `UPDATE ${name} SET claimed_by = ?, claimed_until = ? WHERE ${some.are} AND claimed_until <= ?
      AND CASE WHEN ${waits} THEN 1 ELSE 0 END = 1 RETURNING ${columns}`
    const values = [this.#claimer, now + CLAIMED_MS, ...some.values, now]
    const outcome = await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    return outcome.ok ? (outcome.rows[0] as unknown as Row[]) : []
  }

  /** Releases claims: others may claim the items at once, or at that time. */
  async release(person: UserId, keys: readonly string[], until = 0): Promise<void> {
    if (keys.length === 0) return
    const some = this.#rowsWith(person, keys)
    const sql = `UPDATE ${this.#table.name} SET claimed_by = NULL, claimed_until = ? WHERE ${some.are} AND claimed_by = ?`
    const values = [until, ...some.values, this.#claimer]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }

  /** Whether a process has claimed one of their items. */
  async isAtWork(person: UserId): Promise<boolean> {
    const { name, waits } = this.#table
    const sql = `SELECT 1 FROM ${name} WHERE embedder = ? AND ${waits} AND person = ?
      AND claimed_by IS NOT NULL AND claimed_until > ? LIMIT 1`
    return (await this.#engine.query(sql, [this.#embedder, person, this.#now()])).length > 0
  }

  /** SQL for rows by their primary key. */
  #rowsWith(person: UserId, keys: readonly string[]) {
    const { key, keyHasPerson } = this.#table
    const among = `${key} IN (${keys.map(() => "?").join(", ")}) AND embedder = ?`
    return keyHasPerson
      ? { are: `person = ? AND ${among}`, values: [person, ...keys, this.#embedder] }
      : { are: among, values: [...keys, this.#embedder] }
  }

  get #unclaimed(): string {
    return `embedder = ? AND ${this.#table.waits} AND claimed_until <= ?`
  }
}
