import type { Clock } from "../shared/time/clock.ts"

/**
 * Creates a clock that stands still until the test advances it: `openPawl({ clock: testClock() })`.
 *
 * @example
 * const clock = testClock(0)
 * clock.alarm(1000, () => console.log("A second later.")) // A second later.
 * await clock.advance(1000)
 */
export const testClock = (now?: number): TestClock => new TestClock(now)

/** A clock that stands still until the test advances it. Create it with `testClock`. */
export class TestClock implements Clock {
  #monotonic: number
  #shift = 0
  #alarms: { readonly at: number; readonly ring: () => void }[] = []

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#monotonic = now
  }

  now(): number {
    return this.#monotonic + this.#shift
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** Sets the time of day forward or back, as an operator does. Timers do not fire. */
  shift(ms: number): void {
    this.#shift += ms
  }

  alarm(ms: number, ring: () => void): () => void {
    const alarm = { at: this.#monotonic + Math.ceil(ms), ring } // real clocks return whole milliseconds too
    this.#alarms.push(alarm)
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm)
    }
  }

  /**
   * Advances the time at once, as on a machine that slept: each overdue timer fires once, in order. A periodic timer
   * does not fire for each period.
   */
  async advance(ms: number): Promise<void> {
    this.#monotonic += ms
    await this.turn(0)
  }

  /** Advances the time from timer to timer: each fires at its own time, and its effects are done before the next. */
  async turn(ms: number): Promise<void> {
    const until = this.#monotonic + ms
    for (;;) {
      const next = this.#alarms.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#alarms = this.#alarms.filter((other) => other !== next)
      this.#monotonic = Math.max(this.#monotonic, next.at)
      next.ring()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#monotonic = Math.max(this.#monotonic, until) // a timer may have turned it further
  }
}
