import { type Clock, monotonicOf, systemClock } from "../../../shared/time/clock.ts"
import { failure } from "../../../protocol/errors.ts"

export const DEFAULT_IDLE_MS = 60_000

/** A reply that stalls is tried again where one that is cut would be. */
const STALLED = { retriable: true }

export interface SilenceLimit {
  readonly provider: string
  readonly clock?: Clock
  readonly limitMs?: number
  /** A document in place of a stream is no answer. */
  readonly wantsStream?: boolean
}

/**
 * Listens to one request and ends it when the provider stays silent, before the first byte as well as after it. The
 * reason of `signal` says what ended the request: `model_silent`, or whatever the caller's own signal was aborted with.
 */
export class SilenceWatch {
  readonly provider: string
  readonly wantsStream: boolean
  /** The last bytes that came, for whoever has to know how a stream ended. */
  tail = ""
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #caller: AbortSignal
  readonly #passOn = () => this.stop(this.#caller.reason)
  #lastHeard: number
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
    this.#lastHeard = monotonicOf(clock)
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

  /** A byte or a part has come. Cheap: the alarm stays as it is and looks at the time when it rings. */
  heard(): void {
    this.#lastHeard = monotonicOf(this.#clock)
  }

  /** The reader is busy with what it has; until it waits again, silence is its own doing and not the provider's. */
  busy(): void {
    this.#waiting = false
  }

  waiting(): void {
    this.#waiting = true
    this.heard()
  }

  /** What came waits for its turn in this process: until it is handed on, silence is not the provider's either. */
  queued(): void {
    this.#isQueued = true
  }

  handedOn(): void {
    this.#isQueued = false
    this.heard()
  }

  /** Ends the request now. Harmless to repeat, and after the request has ended. */
  stop(reason?: unknown): void {
    this.close()
    this.#controller.abort(reason)
  }

  /** The answer is whole: from now on neither silence nor the caller ends the request, only the end of this time. */
  limitTo(ms: number): void {
    this.close()
    this.#cancelAlarm = this.#clock.alarm(ms, () => this.stop())
  }

  /** Stops listening and lets the request be. */
  close(): void {
    this.#cancelAlarm()
    this.#caller.removeEventListener("abort", this.#passOn)
  }

  #setAlarm(ms: number): void {
    this.#cancelAlarm = this.#clock.alarm(ms, () => {
      const silentMs = this.#waiting && !this.#isQueued ? monotonicOf(this.#clock) - this.#lastHeard : 0
      if (silentMs < this.#limitMs) return this.#setAlarm(this.#limitMs - silentMs)
      const seconds = Math.round(this.#limitMs / 1000)
      this.stop(failure("model_silent", { provider: this.provider, seconds, ...STALLED }))
    })
  }
}

// Adapters know nothing of us but pass our signal on to `fetch`, so that is how the bytes find their watch.
const watches = new WeakMap<AbortSignal, SilenceWatch>()

/** The watch whose signal this is, if it is one. */
export function watchOf(signal: AbortSignal | null | undefined): SilenceWatch | undefined {
  return signal ? watches.get(signal) : undefined
}
