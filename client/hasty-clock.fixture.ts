import type { ClientClock } from "./clock.ts"
import { STREAM_SILENCE_MS } from "./stream/stream.ts"

/** A clock for tests: whoever waits to try again gets there at once, and silence lasts until it is said to be over. */
export class HastyClock implements ClientClock {
  /** How long somebody meant to wait, each time. */
  readonly waits: number[] = []
  readonly #listening = new Set<() => void>()
  #now = Date.UTC(2026, 0, 1)
  #stopped = false

  now(): number {
    return this.#now
  }

  alarm(ms: number, ring: () => void): () => void {
    if (ms === STREAM_SILENCE_MS) {
      this.#listening.add(ring)
      return () => this.#listening.delete(ring)
    }
    this.waits.push(ms)
    const soon = setImmediate(() => {
      if (this.#stopped) return
      this.#now += ms
      ring()
    })
    return () => clearImmediate(soon)
  }

  /** Nobody gets anywhere any more: a client that a test has left behind would try again at once, for ever. */
  stop(): void {
    this.#stopped = true
  }

  /** Lets time pass without anything happening. */
  pass(ms: number): void {
    this.#now += ms
  }

  /** All who listen have heard nothing for too long. How many they were. */
  silence(): number {
    const listening = [...this.#listening]
    for (const ring of listening) ring()
    return listening.length
  }
}
