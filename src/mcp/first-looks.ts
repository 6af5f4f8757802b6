import { type Clock, monotonicOf } from "../agent/clock.ts"
import { withTimeLimit } from "../agent/concurrency/time-limit.ts"
import { failure } from "../protocol/errors.ts"

/** A run waits for it, and the tools of all other servers with it: less than the run waits for all of them. */
const LOOK_SECONDS = 8
/** For so long runs do without one that has failed. */
const REST_MS = 30_000
const MAX_RESTING = 1000

/**
 * Looks at servers of which nothing is known yet, for runs: each for a few seconds, and not at once again where it has
 * failed. Otherwise one that hangs would hold up every run, and take the tools of all others from it.
 */
export class FirstLooks {
  readonly #clock: Clock
  /** Those that have failed, and since when. */
  readonly #resting = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined where it has failed a moment ago, and is not asked. */
  async look<T>(key: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const failedAt = this.#resting.get(key)
    if (failedAt !== undefined && monotonicOf(this.#clock) - failedAt < REST_MS) return undefined
    const bounds = { clock: this.#clock, seconds: LOOK_SECONDS, signal, graceMs: 0 }
    const ended = await withTimeLimit(bounds, (inner) => ask(inner()))
    if (ended.type === "timed_out" || ended.type === "stopped") ended.rest.catch(() => {}) // nobody waits for it any more
    signal.throwIfAborted()
    this.#resting.delete(key)
    if (ended.type === "returned") return ended.value
    this.#rest(key)
    if (ended.type === "threw") throw ended.error
    throw failure("mcp_server_failed", { problem: `it did not say within ${LOOK_SECONDS} seconds what it offers` })
  }

  #rest(key: string): void {
    this.#resting.set(key, monotonicOf(this.#clock))
    const [oldest] = this.#resting.keys()
    if (this.#resting.size > MAX_RESTING && oldest !== undefined) this.#resting.delete(oldest)
  }
}
