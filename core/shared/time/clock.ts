/** The source of time. Tests replace it, so that they control time instead of sleeping. */
export interface Clock {
  /**
   * The time of day in milliseconds, for display and storage: the database's if several nodes share one, otherwise this
   * machine's. It may be wrong and may jump.
   */
  now(): number
  /** This machine's time of day, if `now` is the database's. */
  machine?(): number
  /** Milliseconds since some fixed moment; it never goes back. Default: the process's monotonic clock. */
  monotonic?(): number
  /**
   * Calls `ring` after `ms` milliseconds. Returns a function that cancels the timer. A background timer does not keep
   * the process alive.
   */
  alarm(ms: number, ring: () => void, background?: "background"): () => void
}

interface Second {
  readonly alarms: Set<FarAlarm>
  readonly timer: NodeJS.Timeout
  /** The number of alarms that keep the process alive. */
  awaited: number
}

interface FarAlarm {
  readonly ring: () => void
}

/**
 * Alarms that may ring up to a second late. Alarms of the same second share a timer, because nearly every run sets and
 * cancels one, and a timer of Node for each costs ten times as much.
 */
export class FarAlarms {
  readonly #seconds = new Map<number, Second>()

  /** Returns a function that cancels the alarm. A background alarm does not keep the process alive. */
  set(ms: number, ring: () => void, background: boolean): () => void {
    const now = performance.now()
    const due = Math.ceil((now + ms) / 1000)
    const second = this.#seconds.get(due) ?? this.#addSecond(due, now)
    const alarm = { ring }
    second.alarms.add(alarm)
    if (!background && second.awaited++ === 0) second.timer.ref()
    return () => {
      if (second.alarms.delete(alarm) && !background && --second.awaited === 0) second.timer.unref()
    }
  }

  #addSecond(due: number, now: number): Second {
    const timer = setTimeout(() => this.#ring(due), due * 1000 - now).unref()
    const second = { alarms: new Set<FarAlarm>(), timer, awaited: 0 }
    this.#seconds.set(due, second)
    return second
  }

  #ring(due: number): void {
    const second = this.#seconds.get(due)
    this.#seconds.delete(due)
    // Each in its own tick, so that one that throws does not prevent the others from ringing.
    for (const alarm of second?.alarms ?? []) process.nextTick(() => second?.alarms.delete(alarm) && alarm.ring())
  }
}

/** Timers this far in the future may fire up to a second late. */
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

/**
 * Monotonic time, to measure durations within this process. Differences of the time of day are wrong if the clock
 * jumps.
 */
export const monotonicOf = (clock: Clock): number => clock.monotonic?.() ?? performance.now()

/**
 * This machine's time of day, for comparison with times that this machine wrote to its own disk, and for detecting
 * sleep or a wrong clock.
 */
export const machineTimeOf = (clock: Clock): number => clock.machine?.() ?? clock.now()

/** Resolves after `ms` milliseconds, or when the signal aborts. */
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
