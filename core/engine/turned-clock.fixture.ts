import type { Clock } from "../shared/time/clock.ts"

/** A clock that stands still until a test advances it. */
export class TurnedClock implements Clock {
  #now: number
  #alarms: { at: number; ring: () => void }[] = []

  constructor(now = Date.UTC(2026, 10, 15)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  /** Pending alarms, as milliseconds from now. */
  get pending(): number[] {
    return this.#alarms.map(({ at }) => at - this.#now)
  }

  alarm(ms: number, ring: () => void): () => void {
    const alarm = { at: this.#now + ms, ring }
    this.#alarms.push(alarm)
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm)
    }
  }

  /** Advances the time. Alarms ring in order, each at its own time. */
  turn(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const due = this.#alarms.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      this.#alarms = this.#alarms.filter((other) => other !== due)
      this.#now = due.at
      due.ring()
    }
    this.#now = end
  }
}
