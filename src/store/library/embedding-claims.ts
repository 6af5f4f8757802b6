import { randomUUID } from "node:crypto"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** Longer than some texts take on a slow machine; what a killed process had claimed waits for so long. */
const CLAIMED_MS = 2 * 60_000

/** A table of what waits for vectors, with `person`, `embedder`, `claimed_by` and `claimed_until`. */
export interface WaitingTable {
  readonly name: string
  /** With the embedder, what a row is known by. */
  readonly key: string
  /** As the index over those that wait has it: otherwise that would not be used. */
  readonly waits: string
  readonly order: string
  readonly columns: string
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
  readonly #claimer = randomUUID()

  constructor(engine: Engine, table: WaitingTable, { embedder, now }: { embedder: string; now: () => number }) {
    this.#engine = engine
    this.#table = table
    this.#embedder = embedder
    this.#now = now
  }

  /** People of whom something waits that nobody is at work on; whose waits longest first. */
  async people(): Promise<UserId[]> {
    const { name } = this.#table
    const sql = `SELECT person FROM ${name} WHERE ${this.#free} GROUP BY person ORDER BY min(at), person`
    return (await this.#engine.query<{ person: UserId }>(sql, [this.#embedder, this.#now()])).map(
      ({ person }) => person,
    )
  }

  /** What waits of a person's, for whoever asks alone. */
  async claim(person: UserId, limit: number): Promise<Row[]> {
    const { name, key, order, columns } = this.#table
    const sql = `UPDATE ${name} SET claimed_by = ?, claimed_until = ? WHERE person = ? AND ${this.#free}
      AND ${key} IN (SELECT ${key} FROM ${name} WHERE person = ? AND ${this.#free} ORDER BY ${order} LIMIT ?)
      RETURNING ${columns}`
    const now = this.#now()
    const free = [person, this.#embedder, now]
    const values = [this.#claimer, now + CLAIMED_MS, ...free, ...free, limit]
    const outcome = await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    return outcome.ok ? (outcome.rows[0] as unknown as Row[]) : []
  }

  /** Gives back what was claimed and is not done: others take it at once, or not before that time. */
  async release(person: UserId, keys: readonly string[], until = 0): Promise<void> {
    const { name, key } = this.#table
    const statements = keys.map((each) => ({
      sql: `UPDATE ${name} SET claimed_by = NULL, claimed_until = ? WHERE person = ? AND ${key} = ? AND embedder = ? AND claimed_by = ?`,
      values: [until, person, each, this.#embedder, this.#claimer],
    }))
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }

  /** Whether somebody is at work on something of theirs. */
  async isAtWork(person: UserId): Promise<boolean> {
    const { name, waits } = this.#table
    const sql = `SELECT 1 FROM ${name} WHERE embedder = ? AND ${waits} AND person = ?
      AND claimed_by IS NOT NULL AND claimed_until > ? LIMIT 1`
    return (await this.#engine.query(sql, [this.#embedder, person, this.#now()])).length > 0
  }

  get #free(): string {
    return `embedder = ? AND ${this.#table.waits} AND claimed_until <= ?`
  }
}
