import { type Clock, monotonicOf } from "../../agent/clock.ts"

/** What a peer may send: a burst, and then so much a second. A large frame counts as many small ones. */
const BURST = 500
const PER_SECOND = 250
const BYTES_PER_UNIT = 4 * 1024
/** Requests of one socket that may be under way at a time. */
const MAX_UNDER_WAY = 32

interface Tap {
  pause(): void
  resume(): void
}

/** Reads on from a peer only as fast as its frames can be dealt with: the rest waits where it is sent from. */
export class Throttle {
  readonly #clock: Clock
  readonly #tap: Tap
  #level = BURST
  #at: number
  #underWay = 0
  #takeBack: (() => void) | undefined
  #over = false

  constructor(clock: Clock, tap: Tap) {
    this.#clock = clock
    this.#tap = tap
    this.#at = monotonicOf(clock)
  }

  get holding(): boolean {
    return this.#takeBack !== undefined || this.#underWay >= MAX_UNDER_WAY
  }

  count(bytes: number): void {
    const now = monotonicOf(this.#clock)
    const filled = this.#level + (Math.max(0, now - this.#at) * PER_SECOND) / 1000
    this.#level = Math.min(BURST, filled) - Math.max(1, bytes / BYTES_PER_UNIT)
    this.#at = now
    if (this.#level >= 0 || this.#takeBack) return
    const ms = Math.ceil((-this.#level * 1000) / PER_SECOND)
    this.#takeBack = this.#clock.alarm(ms, () => this.#goOn(), "background")
    this.#tap.pause()
  }

  /** Takes one back of what was counted: we have asked for it, and do not ask faster than we can bear. */
  forgive(): void {
    this.#level = Math.min(BURST, this.#level + 1)
  }

  during(work: Promise<unknown>): void {
    if (++this.#underWay >= MAX_UNDER_WAY) this.#tap.pause()
    const done = () => {
      this.#underWay--
      if (!this.holding && !this.#over) this.#tap.resume()
    }
    work.then(done, done)
  }

  close(): void {
    this.#over = true
    this.#takeBack?.()
    this.#tap.resume() // so that the peer's close is read
  }

  #goOn(): void {
    this.#takeBack = undefined
    if (!this.holding && !this.#over) this.#tap.resume()
  }
}
