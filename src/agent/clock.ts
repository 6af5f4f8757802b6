import { FarAlarms } from "./concurrency/far-alarms.ts"

/** Time enters here and nowhere else, so that tests turn the clock instead of sleeping. */
export interface Clock {
  /**
   * The time of day, to be shown and stored: the database's where several nodes share one, and otherwise this machine's. It
   * may be wrong, and it may jump.
   */
  now(): number
  /** This machine's own time of day, where `now` is another's. */
  machine?(): number
  /** Milliseconds since some moment, which only ever grow. Without it, the process's own. */
  monotonic?(): number
  /**
   * Calls back after `ms`; the returned function takes the alarm back. One in the background does not keep a process
   * alive that has nothing else to do.
   */
  alarm(ms: number, ring: () => void, background?: "background"): () => void
}

/** Alarms this far away may ring up to a second late. */
const FAR_MS = 10_000
const far = new FarAlarms()

export const systemClock: Clock = {
  now: () => Date.now(),
  alarm(ms, ring, background) {
    if (ms >= FAR_MS) return far.set(ms, ring, background !== undefined)
    const timer = setTimeout(ring, ms)
    if (background) timer.unref()
    return () => clearTimeout(timer)
  },
}

/** For how long something has been so in this process: never the difference of two times of day, which may jump. */
export const monotonicOf = (clock: Clock): number => clock.monotonic?.() ?? performance.now()

/**
 * The time of day as this machine has it: for what is held against times that it has written to its own disk, or tells of
 * the machine itself, such as that it slept or that its clock is wrong.
 */
export const machineTimeOf = (clock: Clock): number => clock.machine?.() ?? clock.now()

/** Resolves after `ms`, or as soon as the signal aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const cancel = clock.alarm(ms, done)
    function done() {
      signal?.removeEventListener("abort", early)
      resolve()
    }
    function early() {
      cancel()
      done()
    }
    signal?.addEventListener("abort", early, { once: true })
  })
}
