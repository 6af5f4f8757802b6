import { makeFolders } from "../../shared/processes/make-folders.ts"
import { dirname } from "node:path"
import { type Clock, machineTimeOf, monotonicOf } from "../../shared/time/clock.ts"
import { EVENTS_KNOWN } from "../../engine/replay/replay.ts"
import { newId, type NodeId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { NodeFile } from "../engine/node-file.ts"
import { NodeWatch } from "./node-watch.ts"

/** How long a node counts as alive after its last heartbeat. With the sweeps before and after, below 15 s. */
const LEASE_SECONDS = 8

const TIME_COLUMNS = ", events_known, since, signed_at, own_time"
const UPDATED_TIMES = ", signed_at = excluded.signed_at, own_time = excluded.own_time"

export interface NodeOptions {
  readonly clock: Clock
  readonly leaseSeconds?: number
  /** The file in which a process stores its id for the next process of the same data folder; see `NodeFile`. */
  readonly nodeFile?: string | undefined
}

/**
 * This process among those that share the database. Its leases count while it has a row in `node`. It counts heartbeats
 * there; another node that sees the count unchanged for the duration of a lease deletes the row. Clocks of different
 * machines are never compared.
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
  /** When the last successful heartbeat was started, on this machine's two clocks. */
  #lastHeartbeat: { readonly monotonic: number; readonly day: number } | undefined
  /** The heartbeat in flight, which all concurrent callers share. */
  #sending: Promise<void> | undefined
  #stopHeartbeats: (() => void) | undefined

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
   * Expires the leases of the previous holder of the database's lock, because that process must have ended. At the
   * start, because a sweep finds only conversations without a live writer.
   */
  async expireDeadNodes(): Promise<void> {
    if (!this.#engine.exclusive) return this.#expirePreviousNode()
    const failed = await this.#engine.query("SELECT 1 FROM node WHERE locked = 1 LIMIT 1", [])
    if (failed.length === 0) return
    const gone = { sql: "DELETE FROM node WHERE locked = 1", values: [] }
    await this.#engine.change({ type: "statements", statements: [gone] })
  }

  /**
   * A killed process may be followed by one with the same data folder, which need not wait for the lease to time out.
   */
  async #expirePreviousNode(): Promise<void> {
    const path = this.#path
    const file = path !== undefined && NodeFile.isUsed(path) ? NodeFile.open(path) : undefined
    if (!file) return
    try {
      if (file.previousNode !== undefined) await this.#remove(file.previousNode)
    } finally {
      file.close()
    }
  }

  /** The other nodes as of the last check. */
  get others(): Iterable<string> {
    return this.#watch.others
  }

  /** Checks the other nodes, and deletes those without a heartbeat for the duration of a lease. */
  watch(): Promise<void> {
    return this.#watch.check()
  }

  /** Whether another node knows events that this one does not. `watch` removes failed nodes first. */
  async hasNewer(): Promise<boolean> {
    const sql = "SELECT 1 FROM node WHERE events_known > ? LIMIT 1"
    return (await this.#engine.query(sql, [EVENTS_KNOWN])).length > 0
  }

  /** Whether another node does not know all events of this one. It may not know all inputs either. */
  async hasOlder(): Promise<boolean> {
    if (this.#engine.exclusive) return false // there is no other
    const sql = "SELECT 1 FROM node WHERE id <> ? AND coalesce(events_known, 0) < ? LIMIT 1"
    return (await this.#engine.query(sql, [this.id, EVENTS_KNOWN])).length > 0
  }

  /** Must resolve before a lease is claimed. Writes only if the last heartbeat is getting old. */
  async alive(): Promise<void> {
    if (!this.#isFresh()) await this.heartbeat()
  }

  /** Sends a heartbeat now; durable when it resolves. */
  heartbeat(): Promise<void> {
    return (this.#sending ??= this.#sendHeartbeat())
  }

  /** Sends heartbeats while `needed` returns true: an idle server writes nothing. */
  keepAlive(needed: () => boolean, failed: (error: unknown) => void): void {
    const round = () => {
      if (needed()) this.alive().catch(failed)
      wait()
    }
    const wait = () => {
      this.#stopHeartbeats = this.#clock.alarm(this.#leaseMs / 3, round, "background")
    }
    wait()
  }

  async leave(): Promise<void> {
    this.#stopHeartbeats?.()
    await this.#sending?.catch(() => {}) // after the deletion it would make this node look alive
    if (this.#beats > 0) await this.#remove(this.id)
  }

  /** Called when this node can no longer reach the database. From then on another process may expire its leases. */
  releaseFile(): void {
    this.#file?.close()
    this.#file = undefined
  }

  async #remove(id: string): Promise<void> {
    const gone = { sql: "DELETE FROM node WHERE id = ?", values: [id] }
    await this.#engine.change({ type: "statements", statements: [gone] })
  }

  /** Before the first lease, so that the next process of this folder knows whose leases to expire. */
  #claimFile(): void {
    if (this.#file || this.#path === undefined) return
    try {
      makeFolders(dirname(this.#path))
      this.#file = NodeFile.open(this.#path)
      this.#file?.record(this.id)
    } catch {
      // The folder is not writable: the leases of this node end by their timeout.
    }
  }

  /**
   * The monotonic clock stops while the machine sleeps, but the other nodes continue counting. Then the time of day
   * jumps. If it jumps for any reason, the row may be gone, so a heartbeat is sent.
   */
  #isFresh(): boolean {
    if (!this.#lastHeartbeat) return false
    const age = monotonicOf(this.#clock) - this.#lastHeartbeat.monotonic
    const byDay = machineTimeOf(this.#clock) - this.#lastHeartbeat.day
    return age < this.#leaseMs / 4 && byDay > -this.#leaseMs && byDay < this.#leaseMs / 2
  }

  /**
   * Creates the row again if another node deleted it: conversations that were not taken over are still owned, because
   * of their fence.
   */
  async #sendHeartbeat(): Promise<void> {
    this.#claimFile()
    const started = { monotonic: monotonicOf(this.#clock), day: machineTimeOf(this.#clock) }
    const { exclusive, serverTime } = this.#engine
    // The times are only for listing nodes; they reveal a wrong clock.
    const [columns, times, change] = serverTime
      ? [TIME_COLUMNS, `, ${EVENTS_KNOWN}, ${serverTime}, ${serverTime}, ?`, UPDATED_TIMES]
      : (["", "", ""] as const)
    const heartbeat = {
      sql: `INSERT INTO node (id, beats, locked${columns}) VALUES (?, ?, ?${times})
        ON CONFLICT (id) DO UPDATE SET beats = excluded.beats${change}`,
      values: [this.id, ++this.#beats, exclusive ? 1 : 0, ...(serverTime ? [started.day] : [])],
    }
    try {
      await this.#engine.change({ type: "statements", statements: [heartbeat] })
      this.#lastHeartbeat = started
    } finally {
      this.#sending = undefined
    }
  }
}
