import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import type { Engine } from "../engine/engine.ts"

interface Watching {
  readonly clock: Clock
  readonly leaseMs: number
  readonly self: string
}

interface Seen {
  readonly beats: number
  /** How long the count has stood still while we were looking. */
  readonly stillMs: number
}

/**
 * Watches the signs of life of the other nodes. One is dead when its count has stood still for as long as a lease, by this
 * process's own monotonic clock: the time of day, ours or theirs, has no say.
 */
export class NodeWatch {
  readonly #engine: Engine
  readonly #watching: Watching
  #seen = new Map<string, Seen>()
  #lookedAt: number | undefined
  #looking: Promise<void> | undefined

  constructor(engine: Engine, watching: Watching) {
    this.#engine = engine
    this.#watching = watching
  }

  /** The others that were there at the last look. */
  get others(): Iterable<string> {
    return this.#seen.keys()
  }

  look(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)))
  }

  async #look(): Promise<void> {
    const { clock, leaseMs, self } = this.#watching
    type Row = { id: string; beats: number }
    const rows = await this.#engine.query<Row>("SELECT id, beats FROM node WHERE id <> ?", [self])
    const now = monotonicOf(clock)
    // Between two looks that lie far apart we may have been stopped, or the database away, and so may they: what counts
    // is at most half a lease, so that a living node has the time for a sign before the next look.
    const passed = this.#lookedAt === undefined ? 0 : Math.min(now - this.#lookedAt, leaseMs / 2)
    this.#lookedAt = now
    const seen = new Map<string, Seen>()
    for (const { id, beats } of rows) {
      const last = this.#seen.get(id)
      seen.set(id, { beats, stillMs: last?.beats === beats ? last.stillMs + passed : 0 })
    }
    this.#seen = seen
    const dead = rows.filter(({ id }) => (seen.get(id)?.stillMs ?? 0) >= leaseMs)
    if (dead.length === 0) return
    // Only with the count that we have seen: a sign of life that comes at the same moment is heard.
    const gone = dead.map(({ id, beats }) => ({
      sql: "DELETE FROM node WHERE id = ? AND beats = ?",
      values: [id, beats],
    }))
    await this.#engine.change({ type: "statements", statements: gone })
  }
}
