import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { type Clock, machineTimeOf, monotonicOf } from "../../shared/time/clock.ts"
import { EVENTS_KNOWN } from "../../engine/replay/replay.ts"
import { newId, type NodeId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { NodeFile } from "../engine/node-file.ts"
import { NodeWatch } from "./node-watch.ts"

/** How long a node counts as alive after its last sign of life. With two sweeps before and after: below 15 s. */
const LEASE_SECONDS = 8

const SEEN = ", events_known, since, signed_at, own_time"
const SEEN_AGAIN = ", signed_at = excluded.signed_at, own_time = excluded.own_time"

export interface NodeOptions {
  readonly clock: Clock
  readonly leaseSeconds?: number
  /** Where a process of this data folder leaves its name for the next one; see `NodeFile`. */
  readonly nodeFile?: string | undefined
}

/**
 * This process among those that share the database. Its row in `node` is what makes its leases count: whoever has no row
 * has no leases. It counts its signs of life there; another node that sees the count stand still for as long as a lease
 * takes the row away. No clock of one machine is ever held against that of another.
 */
export class ThisNode {
  readonly id: NodeId = newId("node")
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #watch: NodeWatch
  readonly #path: string | undefined
  #file: NodeFile | undefined
  #beats = 0
  /** When the last sign of life that arrived was begun, on this machine's two clocks. */
  #signed: { readonly monotonic: number; readonly day: number } | undefined
  /** The sign of life that is under way: everyone who needs one at the same time shares it. */
  #signing: Promise<void> | undefined
  #stopBeat: (() => void) | undefined

  constructor(engine: Engine, { clock, leaseSeconds = LEASE_SECONDS, nodeFile }: NodeOptions) {
    this.#engine = engine
    this.#clock = clock
    this.#leaseMs = leaseSeconds * 1000
    this.#path = engine.manyMachines ? nodeFile : undefined
    this.#watch = new NodeWatch(engine, { clock, leaseMs: this.#leaseMs, self: this.id })
  }

  get now(): number {
    return this.#clock.now()
  }

  /**
   * Whoever held the lock before me is dead, or I would not have it: its leases end now, not when they time out. Done at
   * the start, because a sweep finds only what has no living writer.
   */
  async expireDeadNodes(): Promise<void> {
    if (!this.#engine.exclusive) return this.#expireEarlier()
    const dead = await this.#engine.query("SELECT 1 FROM node WHERE locked = 1 LIMIT 1", [])
    if (dead.length === 0) return
    const gone = { sql: "DELETE FROM node WHERE locked = 1", values: [] }
    await this.#engine.change({ type: "statements", statements: [gone] })
  }

  /** A process that was killed is followed by one that uses the same folder: that one need not wait for a lease to end. */
  async #expireEarlier(): Promise<void> {
    const path = this.#path
    const file = path !== undefined && NodeFile.isUsed(path) ? NodeFile.open(path) : undefined
    if (!file) return
    try {
      if (file.earlier !== undefined) await this.#remove(file.earlier)
    } finally {
      file.close()
    }
  }

  /** The other nodes that have given signs of life, as far as was looked. */
  get others(): Iterable<string> {
    return this.#watch.others
  }

  /** Looks at the others, and takes the rows of those away that have given no sign of life for as long as a lease. */
  watch(): Promise<void> {
    return this.#watch.look()
  }

  /** Whether another node understands events that this one does not. One that has died is taken off the list by `watch`. */
  async hasNewer(): Promise<boolean> {
    const sql = "SELECT 1 FROM node WHERE events_known > ? LIMIT 1"
    return (await this.#engine.query(sql, [EVENTS_KNOWN])).length > 0
  }

  /** Whether another node does not know all the events that this one does: it may not know all kinds of input either. */
  async hasOlder(): Promise<boolean> {
    if (this.#engine.exclusive) return false // there is no other
    const sql = "SELECT 1 FROM node WHERE id <> ? AND coalesce(events_known, 0) < ? LIMIT 1"
    return (await this.#engine.query(sql, [this.id, EVENTS_KNOWN])).length > 0
  }

  /** Must have returned before a lease is taken. Writes only when the last sign of life is getting old. */
  async alive(): Promise<void> {
    if (!this.#isFresh()) await this.sign()
  }

  /** A sign of life now, on the disk when this resolves. */
  sign(): Promise<void> {
    return (this.#signing ??= this.#sign())
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
    await this.#signing?.catch(() => {}) // landing after the goodbye, it would make a node that is gone look alive
    if (this.#beats > 0) await this.#remove(this.id)
  }

  /** Called when nothing of this node can reach the database any more: from then on another process may expire its leases. */
  letGoOfFile(): void {
    this.#file?.close()
    this.#file = undefined
  }

  async #remove(id: string): Promise<void> {
    const gone = { sql: "DELETE FROM node WHERE id = ?", values: [id] }
    await this.#engine.change({ type: "statements", statements: [gone] })
  }

  /** Before the first lease, so that the next process of this folder knows whose leases it may end. */
  #claimFile(): void {
    if (this.#file || this.#path === undefined) return
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
      this.#file = NodeFile.open(this.#path)
      this.#file?.record(this.id)
    } catch {
      // A folder that cannot be written: then the leases of this node end when they time out.
    }
  }

  /**
   * The monotonic clock stands still while the machine sleeps, and the other nodes go on counting. The time of day jumps
   * then: where it does, for that or any other reason, the row may be gone, and one write too many does no harm.
   */
  #isFresh(): boolean {
    if (!this.#signed) return false
    const age = monotonicOf(this.#clock) - this.#signed.monotonic
    const byDay = machineTimeOf(this.#clock) - this.#signed.day
    return age < this.#leaseMs / 4 && byDay > -this.#leaseMs && byDay < this.#leaseMs / 2
  }

  /** Made anew where another node has taken it away: what it has not taken over meanwhile is still ours, by its fence. */
  async #sign(): Promise<void> {
    this.#claimFile()
    const begun = { monotonic: monotonicOf(this.#clock), day: machineTimeOf(this.#clock) }
    const { exclusive, serverTime } = this.#engine
    // The times are for whoever lists the nodes: nothing is decided by them, and that of the machine shows a wrong clock.
    const [columns, times, change] = serverTime
      ? [SEEN, `, ${EVENTS_KNOWN}, ${serverTime}, ${serverTime}, ?`, SEEN_AGAIN]
      : (["", "", ""] as const)
    const sign = {
      sql: `INSERT INTO node (id, beats, locked${columns}) VALUES (?, ?, ?${times})
        ON CONFLICT (id) DO UPDATE SET beats = excluded.beats${change}`,
      values: [this.id, ++this.#beats, exclusive ? 1 : 0, ...(serverTime ? [begun.day] : [])],
    }
    try {
      await this.#engine.change({ type: "statements", statements: [sign] })
      this.#signed = begun
    } finally {
      this.#signing = undefined
    }
  }
}
