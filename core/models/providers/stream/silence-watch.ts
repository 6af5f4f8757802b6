import { type Clock, monotonicOf, systemClock } from "../../../shared/time/clock.ts"
import { failure } from "../../../protocol/errors.ts"

export const DEFAULT_IDLE_MS = 60_000

/** A stalled reply is retried like one that was cut. */
const STALLED = { retriable: true }

export interface SilenceLimit {
  readonly provider: string
  readonly clock?: Clock
  readonly limitMs?: number
  /** A document in place of a stream is an error. */
  readonly wantsStream?: boolean
}

/**
 * Ends a request when its provider is silent, before the first byte or after it. The reason of `signal` is
 * `model_silent`, or the reason of the caller's signal.
 */
export class SilenceWatch {
  readonly provider: string
  readonly wantsStream: boolean
  /** The last bytes, which show how a stream ended. */
  tail = ""
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #caller: AbortSignal
  readonly #passOn = () => this.stop(this.#caller.reason)
  #lastActivity: number
  #waiting = true
  #isQueued = false
  #cancelAlarm: () => void = () => {}

  constructor(caller: AbortSignal, limit: SilenceLimit) {
    const { provider, clock = systemClock, limitMs = DEFAULT_IDLE_MS, wantsStream = false } = limit
    this.#caller = caller
    this.#clock = clock
    this.#limitMs = limitMs
    this.provider = provider
    this.wantsStream = wantsStream
    this.#lastActivity = monotonicOf(clock)
    watches.set(this.signal, this)
    if (caller.aborted) {
      this.stop(caller.reason)
    } else {
      caller.addEventListener("abort", this.#passOn, { once: true })
      this.#setAlarm(limitMs)
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** A byte or a part arrived. Cheap, because the timer is not restarted and compares times when it fires. */
  onActivity(): void {
    this.#lastActivity = monotonicOf(this.#clock)
  }

  /** The reader is busy; until it waits again, silence is not the provider's. */
  busy(): void {
    this.#waiting = false
  }

  waiting(): void {
    this.#waiting = true
    this.onActivity()
  }

  /** Received bytes wait for their turn in this process, so silence is not the provider's. */
  queued(): void {
    this.#isQueued = true
  }

  passedOn(): void {
    this.#isQueued = false
    this.onActivity()
  }

  /** Ends the request. Harmless if repeated, or after the request has ended. */
  stop(reason?: unknown): void {
    this.close()
    this.#controller.abort(reason)
  }

  /** The reply is complete: from now on only this time limit ends the request. */
  limitTo(ms: number): void {
    this.close()
    this.#cancelAlarm = this.#clock.alarm(ms, () => this.stop())
  }

  /** Stops watching without ending the request. */
  close(): void {
    this.#cancelAlarm()
    this.#caller.removeEventListener("abort", this.#passOn)
  }

  #setAlarm(ms: number): void {
    this.#cancelAlarm = this.#clock.alarm(ms, () => {
      const silentMs = this.#waiting && !this.#isQueued ? monotonicOf(this.#clock) - this.#lastActivity : 0
      if (silentMs < this.#limitMs) return this.#setAlarm(this.#limitMs - silentMs)
      const seconds = Math.round(this.#limitMs / 1000)
      this.stop(failure("model_silent", { provider: this.provider, seconds, ...STALLED }))
    })
  }
}

// Adapters pass our signal on to `fetch`, which finds its watch with it.
const watches = new WeakMap<AbortSignal, SilenceWatch>()

/** The watch of this signal, if there is one. */
export function watchOf(signal: AbortSignal | null | undefined): SilenceWatch | undefined {
  return signal ? watches.get(signal) : undefined
}
