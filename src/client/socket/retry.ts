import { type ClientClock, unlessAborted } from "../clock.ts"

/** A pause before the next try that many wait for, and that one of them may end before its time. */
export class Retry {
  readonly #clock: ClientClock
  readonly #at: number
  readonly #over: Promise<void>
  #takeBack: () => void = () => {}
  #ring: () => void = () => {}

  constructor(clock: ClientClock, ms: number) {
    this.#clock = clock
    this.#at = clock.now() + ms
    this.#over = new Promise((resolve) => (this.#ring = resolve))
    if (ms > 0) this.#takeBack = clock.alarm(ms, () => this.#ring())
    else this.#ring()
  }

  leftMs(): number {
    return Math.max(0, this.#at - this.#clock.now())
  }

  /** Resolves when it is over; rejects with the signal's reason. */
  over(signal?: AbortSignal): Promise<void> {
    return unlessAborted(this.#over, signal)
  }

  ring(): void {
    this.#takeBack()
    this.#ring()
  }

  /** Never rings. */
  cancel(): void {
    this.#takeBack()
  }
}
