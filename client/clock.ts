/** The source of time and randomness. Tests replace it, so that they control time instead of sleeping. */
export interface ClientClock {
  now(): number
  /** Calls `ring` after `ms` milliseconds. Returns a function that cancels the timer. */
  alarm(ms: number, ring: () => void): () => void
}

export const clientClock: ClientClock = {
  now: () => Date.now(),
  alarm(ms, ring) {
    const timer = setTimeout(ring, ms)
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason if it aborts first. */
export function sleepOrAbort(clock: ClientClock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const cancel = clock.alarm(ms, () => {
      signal?.removeEventListener("abort", stop)
      resolve()
    })
    function stop() {
      cancel()
      reject(signal?.reason as Error)
    }
    signal?.addEventListener("abort", stop, { once: true })
  })
}

/** Resolves or rejects like `wait`, or rejects with the signal's reason if it aborts first. */
export function unlessAborted<Value>(wait: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (!signal) return wait
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener("abort", stop, { once: true })
    wait.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop))
  })
}
