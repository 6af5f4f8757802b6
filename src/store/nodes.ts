import type { Clock } from "../agent/clock.ts"
import { newId, type NodeId } from "../protocol/ids.ts"
import type { Engine } from "./engine.ts"

/** How long a node counts as alive after its last sign of life. */
const LEASE_SECONDS = 10

export interface NodeOptions {
  readonly clock: Clock
  readonly leaseSeconds?: number
}

/** This process among those that share the database. Its sign of life is what makes its leases count. */
export class ThisNode {
  readonly id: NodeId = newId("node")
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #leaseMs: number
  #until = 0
  /** The sign of life that is under way. */
  #signing: Promise<unknown> = Promise.resolve()
  #stopBeat: (() => void) | undefined

  constructor(engine: Engine, { clock, leaseSeconds = LEASE_SECONDS }: NodeOptions) {
    this.#engine = engine
    this.#clock = clock
    this.#leaseMs = leaseSeconds * 1000
  }

  get now(): number {
    return this.#clock.now()
  }

  /**
   * Whoever held the lock before me is dead, or I would not have it: its leases end now, not when they time out. Done at
   * the start, because a sweep finds only what has no living writer.
   */
  async bury(): Promise<void> {
    if (!this.#engine.exclusive) return
    const dead = await this.#engine.query("SELECT 1 FROM node WHERE locked = 1 LIMIT 1", [])
    if (dead.length === 0) return
    const gone = { sql: "DELETE FROM node WHERE locked = 1", values: [] }
    await this.#engine.change({ type: "statements", statements: [gone] })
  }

  /** Must have returned before a lease is taken. Writes only when the last sign of life is getting old. */
  async alive(): Promise<void> {
    const now = this.#clock.now()
    if (this.#until - now > (this.#leaseMs * 2) / 3) return
    const signing = this.#sign(now + this.#leaseMs)
    this.#signing = signing.catch(() => {})
    await signing
  }

  /** Keeps the sign of life fresh for as long as `needed` says: an idle server writes nothing. */
  beat(needed: () => boolean, failed: (error: unknown) => void): void {
    const round = () => {
      if (needed()) this.alive().catch(failed)
      wait()
    }
    const wait = () => {
      this.#stopBeat = this.#clock.alarm(this.#leaseMs / 3, round, "background")
    }
    wait()
  }

  async leave(): Promise<void> {
    this.#stopBeat?.()
    await this.#signing // landing after the goodbye, it would make a node that is gone look alive
    if (this.#until === 0) return
    const gone = { sql: "DELETE FROM node WHERE id = ?", values: [this.id] }
    await this.#engine.change({ type: "statements", statements: [gone] })
  }

  async #sign(until: number): Promise<void> {
    const locked = this.#engine.exclusive ? 1 : 0
    const sign = {
      sql: "INSERT INTO node (id, expires_at, locked) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at",
      values: [this.id, until, locked],
    }
    await this.#engine.change({ type: "statements", statements: [sign] })
    this.#until = until
  }
}
