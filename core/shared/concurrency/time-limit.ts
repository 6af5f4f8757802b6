import { type Clock, monotonicOf } from "../time/clock.ts"

/** How a piece of work ended, or that we stopped waiting for it; `rest` is then still running. */
type TimedResult<T> =
  | { readonly type: "returned"; readonly value: T }
  /** `told`: it had been told to stop, and may have thrown because of that. */
  | { readonly type: "threw"; readonly error: unknown; readonly told: "timed_out" | "stopped" | undefined }
  | { readonly type: "timed_out"; readonly rest: Promise<T> }
  | { readonly type: "stopped"; readonly rest: Promise<T> }

interface Bounds {
  readonly clock: Clock
  readonly seconds: number
  readonly signal: AbortSignal
  /** How long work that was told to stop may still take to end by itself. A function is asked when that happens. */
  readonly graceMs: number | (() => number)
}

/** Runs work within a time limit and under a signal. It is told to stop at either, and waited for no longer than the grace. */
export function withTimeLimit<T>(
  { clock, seconds, signal, graceMs }: Bounds,
  work: (signal: () => AbortSignal, pause: Pause) => Promise<T> | T,
): Promise<TimedResult<T>> {
  return new Promise((resolve) => {
    // Made when somebody asks for it: most work never looks, and a controller costs more than the rest of this.
    let controller: AbortController | undefined
    let aborted: "timed_out" | "stopped" | undefined
    const innerSignal = () => {
      controller ??= new AbortController()
      if (aborted) controller.abort(signal.reason)
      return controller.signal
    }
    const limit = new PausableAlarm(clock, () => stop("timed_out"))
    const rest = (async () => work(innerSignal, () => limit.pause()))()
    let cancelGrace: (() => void) | undefined
    limit.set(seconds * 1000)
    let listenNoMore: (() => void) | undefined
    const settle = (ended: TimedResult<T>) => {
      limit.cancel()
      cancelGrace?.()
      listenNoMore?.()
      resolve(ended)
    }
    const stop = (type: "timed_out" | "stopped") => {
      aborted ??= type
      controller?.abort(signal.reason)
      const grace = typeof graceMs === "number" ? graceMs : graceMs()
      if (grace === 0) return settle({ type, rest })
      cancelGrace ??= clock.alarm(grace, () => settle({ type, rest }))
    }
    if (signal.aborted) stop("stopped")
    else listenNoMore = whenAborted(signal, () => stop("stopped"))
    rest.then(
      (value) => settle({ type: "returned", value }),
      (error: unknown) => settle({ type: "threw", error, told: aborted }),
    )
  })
}

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

/** By signal: who wants to hear that it aborts. A signal of the platform's keeps its own listeners too, at ten times the price. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when a signal aborts, which it must not have done yet; what is returned takes that back. A signal is listened
 * to once, whoever asks: a run asks for each call of a model or a tool, and is hardly ever stopped.
 */
export function whenAborted(signal: AbortSignal, act: () => void): () => void {
  const acts = waiting.get(signal) ?? listenTo(signal)
  acts.add(act)
  return () => void acts.delete(act)
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>()
  const tell = () => {
    for (const act of acts) {
      acts.delete(act)
      act()
    }
  }
  signal.addEventListener("abort", tell, { once: true })
  waiting.set(signal, acts)
  return acts
}
