import { type Clock, monotonicOf } from "../shared/time/clock.ts"
import type { Engine } from "./engine/engine.ts"

/** How often the database is asked for the time. */
const READ_EVERY_MS = 60_000
/** A larger difference between time of day and monotonic time means that the machine slept or its time was set. */
const DRIFT_MS = 1000
/** The minimum time between extra requests: a permanent drift must not cause one per call. */
const EXTRA_EVERY_MS = 1000
/** The time of a slower answer is too inaccurate. */
const SLOW_MS = 1000

/** The database's time, and this machine's two clocks at that moment. */
interface ServerTime {
  readonly database: number
  readonly monotonic: number
  readonly day: number
  readonly roundTripMs: number
}

/**
 * The database's clock, for all nodes that share it, so that times of different nodes can be compared. `now` is the
 * database's time at the last good answer plus the monotonic time since then. So jumps of the machine's clock have no
 * effect, and time continues while the database is unreachable.
 *
 * Corrections are applied directly. `now` may step back by a few milliseconds, or after a failover by the difference
 * between two servers.
 */
export class SharedClock implements Clock, Disposable {
  readonly #machine: Clock
  readonly #engine: Pick<Engine, "query">
  readonly #sql: string
  #serverTime: ServerTime | undefined
  #reading: Promise<void> | undefined
  #extraReadAt = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => {}
  #closed = false

  private constructor(engine: Pick<Engine, "query">, serverTime: string, machine: Clock) {
    this.#engine = engine
    this.#sql = `SELECT ${serverTime} AS now`
    this.#machine = machine
  }

  /** Undefined if the engine has no clock of its own. Rejects if the database does not answer. */
  static async open(engine: Pick<Engine, "query" | "serverTime">, machine: Clock): Promise<SharedClock | undefined> {
    if (engine.serverTime === undefined) return undefined
    const clock = new SharedClock(engine, engine.serverTime, machine)
    await clock.#read()
    clock.#schedule()
    return clock
  }

  // Fields, because packs may destructure a clock.
  readonly now = (): number => {
    if (!this.#serverTime) return this.#machine.now() // only before the first answer
    const time = this.#timeAt(this.#serverTime, monotonicOf(this.#machine))
    const drift = this.#machine.now() - this.#serverTime.day - (time - this.#serverTime.database)
    if (Math.abs(drift) > DRIFT_MS) this.#readExtra()
    return Math.floor(time)
  }
  readonly monotonic = (): number => monotonicOf(this.#machine)
  readonly machine = (): number => this.#machine.now()
  readonly alarm: Clock["alarm"] = (ms, ring, background) => this.#machine.alarm(ms, ring, background)

  /** An accurate time: after the machine slept, `now` is out of date until the database has answered. */
  async exactNow(): Promise<number> {
    await this.#read()
    return this.now()
  }

  /** Stops asking the database; time continues. */
  [Symbol.dispose](): void {
    this.#closed = true
    this.#cancel()
  }

  #timeAt({ database, monotonic }: ServerTime, at: number): number {
    return database + at - monotonic
  }

  #schedule(): void {
    const round = () => void this.#tryRead().then(() => this.#closed || this.#schedule())
    this.#cancel = this.#machine.alarm(READ_EVERY_MS, round, "background")
  }

  #readExtra(): void {
    const at = monotonicOf(this.#machine)
    if (this.#closed || at - this.#extraReadAt < EXTRA_EVERY_MS) return
    this.#extraReadAt = at
    void this.#tryRead()
  }

  /** An unreachable database is reported by other operations. */
  #tryRead(): Promise<void> {
    return (this.#reading ??= this.#read()
      .catch(() => {})
      .finally(() => (this.#reading = undefined)))
  }

  async #read(): Promise<void> {
    const [started, day] = [monotonicOf(this.#machine), this.#machine.now()]
    const [row] = await this.#engine.query<{ now: number }>(this.#sql, [])
    if (!row) return
    const roundTripMs = monotonicOf(this.#machine) - started
    // The database read its clock somewhere in between. The time of day is from before the request: if the machine
    // slept in between, the two clocks differ, and the database is asked again.
    const half = roundTripMs / 2
    const reading = { database: row.now, monotonic: started + half, day: day + half, roundTripMs }
    if (this.#isBetter(reading)) this.#serverTime = reading
  }

  /** Ignores a slow answer unless the current time lies outside its uncertainty. */
  #isBetter({ database, monotonic, roundTripMs }: ServerTime): boolean {
    if (!this.#serverTime || roundTripMs <= SLOW_MS || roundTripMs < this.#serverTime.roundTripMs) return true
    return Math.abs(this.#timeAt(this.#serverTime, monotonic) - database) > roundTripMs / 2
  }
}
