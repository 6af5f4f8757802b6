import type { Clock } from "../../agent/clock.ts"
import type { Log } from "../../agent/ports.ts"
import { type Buckets, createRateLimits, type RateLimits, type SharedBuckets } from "./rate-limits.ts"

/** How often nodes tell each other what was asked of them. */
const EXCHANGE_MS = 1000

export interface SharedLimitsPorts {
  readonly requestsPerMinute: number
  readonly buckets: SharedBuckets
  readonly clock: Clock
  readonly log: Log
}

/**
 * Keeps the limits of this node in step with what is asked of the others. Each refuses by what it knows, without asking
 * anybody; what was allowed too much in the second in between is owed, and comes back that much later.
 */
export class SharedLimits implements AsyncDisposable {
  readonly limits: RateLimits
  readonly #ports: SharedLimitsPorts
  readonly #kinds: ReadonlyMap<string, Buckets>
  #exchanging: Promise<void> | undefined
  #cancel: () => void = () => {}
  #closed = false
  /** The last exchange failed, which is said once and not every second. */
  #failed = false

  constructor(ports: SharedLimitsPorts) {
    this.#ports = ports
    this.limits = createRateLimits(ports.requestsPerMinute, ports.clock, ports.buckets)
    const { people, strangers } = this.limits
    this.#kinds = new Map(Object.entries({ people, strangers }).flatMap(([kind, each]) => (each ? [[kind, each]] : [])))
    this.#wait()
  }

  /** Tells the others, and hears from them, now. */
  exchange(): Promise<void> {
    return (this.#exchanging ??= this.#exchange().finally(() => (this.#exchanging = undefined)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#cancel()
    await this.#exchanging
  }

  #wait(): void {
    const round = () => void this.exchange().then(() => this.#closed || this.#wait())
    this.#cancel = this.#ports.clock.alarm(EXCHANGE_MS, round, "background")
  }

  async #exchange(): Promise<void> {
    const used = [...this.#kinds].flatMap(([kind, each]) => each.takeUsed().map((one) => ({ kind, ...one })))
    try {
      for (const { kind, who, ms } of await this.#ports.buckets.exchange(used)) this.#kinds.get(kind)?.settle(who, ms)
      this.#failed = false
    } catch (error) {
      for (const { kind, ...one } of used) this.#kinds.get(kind)?.giveBack(one)
      if (!this.#failed) this.#ports.log.warn("limits_not_shared", { error })
      this.#failed = true
    }
  }
}
