import { randomUUID } from "node:crypto"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** Longer than some texts take on a slow machine; what a killed process had claimed waits for so long. */
const CLAIMED_MS = 2 * 60_000

/** What the name of a process begins with that has the lock of its database. */
const LOCKED = "locked "
const owners = new WeakMap<Engine, string>()

/** One name for all who work through the same open database: of each other they know that they live. */
function ownerOf(engine: Engine): string {
  const name = owners.get(engine) ?? `${engine.exclusive ? LOCKED : ""}${randomUUID()}`
  owners.set(engine, name)
  return name
}

/**
 * A table of what waits for vectors, with `person`, `embedder`, `at`, `claimed_by` and `claimed_until`, and an index over
 * embedder, person and time of those that wait.
 */
export interface WaitingTable {
  readonly name: string
  /** With the embedder, what a row is known by. */
  readonly key: string
  /** Whether the primary key begins with the person. Where not, asking for the person leads to an index over all of theirs. */
  readonly keyHasPerson: boolean
  /** As the index over those that wait has it: otherwise that would not be used. */
  readonly waits: string
  readonly order: string
  readonly columns: string
}

export interface WaitingPerson {
  readonly person: UserId
  /** Of something that waits nobody is at work on it. */
  readonly isFree: boolean
}

/**
 * Who is at work on what waits for vectors. A claim is a lease: nobody else begins with it before it is released or its time is
 * up, and what a killed process had claimed is taken over then.
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
   * Whoever held the lock of this database before is dead, or this process would not have it: what it had claimed is free at
   * once. Claims of processes without the lock, such as a command beside a server, run out by themselves.
   */
  async freeDead(): Promise<void> {
    if (!this.#engine.exclusive) return
    const sql = `UPDATE ${this.#table.name} SET claimed_by = NULL, claimed_until = 0 WHERE embedder = ? AND ${this.#table.waits}
      AND claimed_by LIKE ? AND claimed_by NOT LIKE ?`
    const values = [this.#embedder, `${LOCKED}%`, `${ownerOf(this.#engine)}%`]
    const statements = [{ sql, values }]
    await this.#engine.change({ type: "statements", statements })
  }

  /** People of whom something waits; first those of whom nobody is at work on it, and of these whose waits longest. */
  async people(): Promise<WaitingPerson[]> {
    const { name, waits } = this.#table
    // From one person to the next: it is asked again for every few rows, and would each time look through all that wait.
    const next = `SELECT min(person) FROM ${name} WHERE embedder = ? AND ${waits}`
    const sql = `WITH RECURSIVE waiting (person) AS (${next} UNION ALL
        SELECT (${next} AND ${name}.person > waiting.person) FROM waiting WHERE person IS NOT NULL),
      longest (person, since) AS (SELECT person,
        (SELECT min(at) FROM ${name} WHERE ${name}.person = waiting.person AND ${this.#free}) FROM waiting)
      SELECT person, since FROM longest WHERE person IS NOT NULL ORDER BY since IS NULL, since, person`
    const values = [this.#embedder, this.#embedder, this.#embedder, this.#now()]
    const rows = await this.#engine.query<{ person: UserId; since: number | null }>(sql, values)
    return rows.map(({ person, since }) => ({ person, isFree: since !== null }))
  }

  /** What waits of a person's, for whoever asks alone. */
  async claim(person: UserId, limit: number): Promise<Row[]> {
    const { name, key, waits, order, columns } = this.#table
    const now = this.#now()
    // Chosen beforehand: in one statement PostgreSQL chooses anew for every row that waits. Who was quicker keeps what both have chosen.
    const choice = `SELECT ${key} AS key FROM ${name} WHERE person = ? AND ${this.#free} ORDER BY ${order} LIMIT ?`
    const chosen = await this.#engine.query<{ key: string }>(choice, [person, this.#embedder, now, limit])
    const keys = chosen.map((row) => row.key)
    if (keys.length === 0) return []
    const some = this.#some(person, keys)
    // As a CASE, so that the index over those that wait is not taken for this: it would be looked through for a few of them.
    const sql = `UPDATE ${name} SET claimed_by = ?, claimed_until = ? WHERE ${some.are} AND claimed_until <= ?
      AND CASE WHEN ${waits} THEN 1 ELSE 0 END = 1 RETURNING ${columns}`
    const values = [this.#claimer, now + CLAIMED_MS, ...some.values, now]
    const outcome = await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    return outcome.ok ? (outcome.rows[0] as unknown as Row[]) : []
  }

  /** Gives back what was claimed and is not done: others take it at once, or not before that time. */
  async release(person: UserId, keys: readonly string[], until = 0): Promise<void> {
    if (keys.length === 0) return
    const some = this.#some(person, keys)
    const sql = `UPDATE ${this.#table.name} SET claimed_by = NULL, claimed_until = ? WHERE ${some.are} AND claimed_by = ?`
    const values = [until, ...some.values, this.#claimer]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }

  /** Whether somebody is at work on something of theirs. */
  async isAtWork(person: UserId): Promise<boolean> {
    const { name, waits } = this.#table
    const sql = `SELECT 1 FROM ${name} WHERE embedder = ? AND ${waits} AND person = ?
      AND claimed_by IS NOT NULL AND claimed_until > ? LIMIT 1`
    return (await this.#engine.query(sql, [this.#embedder, person, this.#now()])).length > 0
  }

  /** Rows by their primary key. */
  #some(person: UserId, keys: readonly string[]) {
    const { key, keyHasPerson } = this.#table
    const among = `${key} IN (${keys.map(() => "?").join(", ")}) AND embedder = ?`
    return keyHasPerson
      ? { are: `person = ? AND ${among}`, values: [person, ...keys, this.#embedder] }
      : { are: among, values: [...keys, this.#embedder] }
  }

  get #free(): string {
    return `embedder = ? AND ${this.#table.waits} AND claimed_until <= ?`
  }
}
