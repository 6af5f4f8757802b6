import type { ClientClock } from "./clock.ts"
import { STREAM_SILENCE_MS } from "./stream/stream.ts"

/** A clock for tests: retries happen at once, and silence lasts until the test ends it. */
export class HastyClock implements ClientClock {
  /** The duration of each wait. */
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

  /** Stops all timers: a client that a test left running would retry forever. */
  stop(): void {
    this.#stopped = true
  }

  /** Advances the time without firing timers. */
  pass(ms: number): void {
    this.#now += ms
  }

  /** Fires the silence timer of every open stream. Returns their number. */
  silence(): number {
    const listening = [...this.#listening]
    for (const ring of listening) ring()
    return listening.length
  }
}
