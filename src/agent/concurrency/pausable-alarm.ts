import { type Clock, monotonicOf } from "../clock.ts"

/** Stops a limit from counting, until what it gives back is called. */
export type Pause = () => () => void

/** An alarm that does not count while somebody waits for others: of several at once, until the last has what it waited for. */
export class PausableAlarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #cancel: (() => void) | undefined
  #leftMs = 0
  #since = 0
  #pauses = 0
  #isOver = false

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** In the place of what was set before. */
  set(ms: number): void {
    this.#cancel?.()
    this.#leftMs = ms
    if (this.#pauses === 0) this.#count()
  }

  pause(): () => void {
    if (this.#pauses++ === 0 && this.#cancel) {
      this.#cancel()
      this.#leftMs -= monotonicOf(this.#clock) - this.#since
    }
    let isPaused = true
    return () => {
      if (!isPaused) return
      isPaused = false
      if (--this.#pauses === 0 && !this.#isOver) this.#count()
    }
  }

  cancel(): void {
    this.#isOver = true
    this.#cancel?.()
  }

  #count(): void {
    // Most are never paused: what they would have left need not be known.
    this.#since = monotonicOf(this.#clock)
    this.#cancel = this.#clock.alarm(Math.max(0, this.#leftMs), this.#ring)
  }
}
