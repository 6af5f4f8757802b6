import type { Clock } from "../clock.ts"
import { type Pause, PausableAlarm } from "./pausable-alarm.ts"
import { whenAborted } from "./when-aborted.ts"

/** How a piece of work ended, or that we stopped waiting for it; `rest` is then still running. */
export type TimedResult<T> =
  | { readonly type: "returned"; readonly value: T }
  /** `told`: it had been told to stop, and may have thrown because of that. */
  | { readonly type: "threw"; readonly error: unknown; readonly told: "timed_out" | "stopped" | undefined }
  | { readonly type: "timed_out"; readonly rest: Promise<T> }
  | { readonly type: "stopped"; readonly rest: Promise<T> }

export interface Bounds {
  readonly clock: Clock
  readonly seconds: number
  readonly signal: AbortSignal
  /** How long work that was told to stop may still take to end by itself. */
  readonly graceMs: number
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
      if (graceMs === 0) return settle({ type, rest })
      cancelGrace ??= clock.alarm(graceMs, () => settle({ type, rest }))
    }
    if (signal.aborted) stop("stopped")
    else listenNoMore = whenAborted(signal, () => stop("stopped"))
    rest.then(
      (value) => settle({ type: "returned", value }),
      (error: unknown) => settle({ type: "threw", error, told: aborted }),
    )
  })
}
