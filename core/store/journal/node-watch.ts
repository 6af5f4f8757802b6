import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import type { Engine } from "../engine/engine.ts"

interface WatchOptions {
  readonly clock: Clock
  readonly leaseMs: number
  readonly self: string
}

interface ObservedNode {
  readonly beats: number
  /** How long the count has not changed while this node was watching. */
  readonly stillMs: number
}

/**
 * Watches the heartbeats of the other nodes. A node has failed if its count does not change for the duration of a
 * lease, measured by this process's monotonic clock and never by times of day.
 */
export class NodeWatch {
  readonly #engine: Engine
  readonly #options: WatchOptions
  #observed = new Map<string, ObservedNode>()
  #checkedAt: number | undefined
  #checking: Promise<void> | undefined

  constructor(engine: Engine, watching: WatchOptions) {
    this.#engine = engine
    this.#options = watching
  }

  /** The other nodes as of the last check. */
  get others(): Iterable<string> {
    return this.#observed.keys()
  }

  check(): Promise<void> {
    return (this.#checking ??= this.#check().finally(() => (this.#checking = undefined)))
  }

  async #check(): Promise<void> {
    const { clock, leaseMs, self } = this.#options
    type Row = { id: string; beats: number }
    const rows = await this.#engine.query<Row>("SELECT id, beats FROM node WHERE id <> ?", [self])
    const now = monotonicOf(clock)
    // If two checks are far apart, this process or the database may have been stopped, and so may the other nodes. So
    // at most half a lease counts, which leaves a live node time for a heartbeat before the next check.
    const passed = this.#checkedAt === undefined ? 0 : Math.min(now - this.#checkedAt, leaseMs / 2)
    this.#checkedAt = now
    const observed = new Map<string, ObservedNode>()
    for (const { id, beats } of rows) {
      const last = this.#observed.get(id)
      observed.set(id, { beats, stillMs: last?.beats === beats ? last.stillMs + passed : 0 })
    }
    this.#observed = observed
    const failed = rows.filter(({ id }) => (observed.get(id)?.stillMs ?? 0) >= leaseMs)
    if (failed.length === 0) return
    // Only with the observed count, so that a heartbeat at the same moment saves the node.
    const deletions = failed.map(({ id, beats }) => ({
      sql: "DELETE FROM node WHERE id = ? AND beats = ?",
      values: [id, beats],
    }))
    await this.#engine.change({ type: "statements", statements: deletions })
  }
}
