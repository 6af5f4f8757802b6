import { type Clock, monotonicOf } from "../shared/time/clock.ts"
import type { Engine } from "./engine/engine.ts"

/** How often the database is asked for the time. */
const ASK_EVERY_MS = 60_000
/** Beyond this, time of day and monotonic time have drifted apart: the machine slept, or its time was set. */
const DRIFT_MS = 1000
/** At most so often for a drift: one that stays, while the database is away, must not ask with every call. */
const HURRY_EVERY_MS = 1000
/** An answer that took longer says too little of when it was given. */
const SLOW_MS = 1000

/** What the database said, and when that was by this machine's two clocks. */
interface Known {
  readonly database: number
  readonly monotonic: number
  readonly day: number
  readonly roundTripMs: number
}

/**
 * The clock of the database, for all nodes that share it: what one of them calls expired is expired at every other, and
 * what is newest stands first, whatever their machines take for the time of day. `now` is the database's time at the last
 * good answer and the monotonic time since then: a jump of the machine's time of day has no say, and while the database is
 * away time goes on as it did.
 *
 * A correction is taken as it is. Usually that is a few milliseconds, and `now` may step back by them, as every time of day
 * may; after a failover it is the difference between two servers' clocks.
 */
export class SharedClock implements Clock, Disposable {
  readonly #machine: Clock
  readonly #engine: Pick<Engine, "query">
  readonly #sql: string
  #known: Known | undefined
  #asking: Promise<void> | undefined
  #hurriedAt = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => {}
  #closed = false

  private constructor(engine: Pick<Engine, "query">, serverTime: string, machine: Clock) {
    this.#engine = engine
    this.#sql = `SELECT ${serverTime} AS now`
    this.#machine = machine
  }

  /** Undefined where the database is no server with a clock of its own. Rejects where it does not answer. */
  static async open(engine: Pick<Engine, "query" | "serverTime">, machine: Clock): Promise<SharedClock | undefined> {
    if (engine.serverTime === undefined) return undefined
    const clock = new SharedClock(engine, engine.serverTime, machine)
    await clock.#ask()
    clock.#wait()
    return clock
  }

  // As fields, because packs of others may take a clock apart, which the machine's allows.
  readonly now = (): number => {
    if (!this.#known) return this.#machine.now() // nobody has it before the first answer
    const time = this.#timeAt(this.#known, monotonicOf(this.#machine))
    const drift = this.#machine.now() - this.#known.day - (time - this.#known.database)
    if (Math.abs(drift) > DRIFT_MS) this.#hurry()
    return Math.floor(time)
  }
  readonly monotonic = (): number => monotonicOf(this.#machine)
  readonly machine = (): number => this.#machine.now()
  readonly alarm: Clock["alarm"] = (ms, ring, background) => this.#machine.alarm(ms, ring, background)

  /** For what others are judged by: after a sleep of the machine `now` is old until the database has answered. */
  async askedNow(): Promise<number> {
    await this.#ask()
    return this.now()
  }

  /** The database is asked no more; time goes on. */
  [Symbol.dispose](): void {
    this.#closed = true
    this.#cancel()
  }

  #timeAt({ database, monotonic }: Known, at: number): number {
    return database + at - monotonic
  }

  #wait(): void {
    const round = () => void this.#askAgain().then(() => this.#closed || this.#wait())
    this.#cancel = this.#machine.alarm(ASK_EVERY_MS, round, "background")
  }

  #hurry(): void {
    const at = monotonicOf(this.#machine)
    if (this.#closed || at - this.#hurriedAt < HURRY_EVERY_MS) return
    this.#hurriedAt = at
    void this.#askAgain()
  }

  /** A database that does not answer shows elsewhere. What is known goes on. */
  #askAgain(): Promise<void> {
    return (this.#asking ??= this.#ask()
      .catch(() => {})
      .finally(() => (this.#asking = undefined)))
  }

  async #ask(): Promise<void> {
    const [begun, day] = [monotonicOf(this.#machine), this.#machine.now()]
    const [row] = await this.#engine.query<{ now: number }>(this.#sql, [])
    if (!row) return
    const roundTripMs = monotonicOf(this.#machine) - begun
    // The database looked at its clock somewhere in between. The time of day is that of the question: a machine that
    // slept before it read the answer finds that the two have drifted apart, and asks again.
    const half = roundTripMs / 2
    const told = { database: row.now, monotonic: begun + half, day: day + half, roundTripMs }
    if (this.#isBetter(told)) this.#known = told
  }

  /** A slow answer is worse than what is known, unless that cannot be true: it lies outside of what the answer allows. */
  #isBetter({ database, monotonic, roundTripMs }: Known): boolean {
    if (!this.#known || roundTripMs <= SLOW_MS || roundTripMs < this.#known.roundTripMs) return true
    return Math.abs(this.#timeAt(this.#known, monotonic) - database) > roundTripMs / 2
  }
}
