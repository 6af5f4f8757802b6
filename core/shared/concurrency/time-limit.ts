import { type Clock, monotonicOf } from "../time/clock.ts"

/** How the work ended, or that its caller stopped waiting while `rest` is still running. */
type TimedResult<T> =
  | { readonly type: "returned"; readonly value: T }
  /** `told`: it was asked to stop before it threw, and may have thrown because of that. */
  | { readonly type: "threw"; readonly error: unknown; readonly told: "timed_out" | "stopped" | undefined }
  | { readonly type: "timed_out"; readonly rest: Promise<T> }
  | { readonly type: "stopped"; readonly rest: Promise<T> }

interface Bounds {
  readonly clock: Clock
  readonly seconds: number
  readonly signal: AbortSignal
  /** How long work may take to end after it was asked to stop. A function is called at that time. */
  readonly graceMs: number | (() => number)
}

/**
 * Runs work with a time limit and a signal. Either asks the work to stop; after the grace period its caller stops
 * waiting.
 */
export function withTimeLimit<T>(
  { clock, seconds, signal, graceMs }: Bounds,
  work: (signal: () => AbortSignal, pause: Pause) => Promise<T> | T,
): Promise<TimedResult<T>> {
  return new Promise((resolve) => {
    // Created on demand: most work does not use its signal, and a controller costs more than the rest of this.
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

/** Pauses a time limit until the returned function is called. */
export type Pause = () => () => void

/** An alarm that can be paused. With several pauses it continues after the last one ends. */
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

  /** Replaces the previous time. */
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
    // Most are never paused, so the remaining time is computed only if one is.
    this.#since = monotonicOf(this.#clock)
    this.#cancel = this.#clock.alarm(Math.max(0, this.#leftMs), this.#ring)
  }
}

/** Callbacks by signal. Listeners of the signal itself cost ten times as much. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when a signal aborts, which it must not have done yet. Returns a function that cancels this. Each signal
 * gets one listener however many callbacks it has: a run adds one for each call of a model or a tool, and is seldom
 * aborted.
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
