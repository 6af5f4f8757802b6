const FIRST_MS = 500
/** `retry: 0` must not become a busy loop. */
const SHORTEST_MS = 100
const LONGEST_MS = 30_000
/** A server may ask for a longer wait than our own maximum, within this bound. */
const MAX_REQUESTED_MS = 5 * 60_000

interface FailedTries {
  /** How many tries in a row have failed: 1 after the first. */
  readonly failures: number
  /** The stream's `retry:`. */
  readonly firstMs?: number | undefined
  /** The response's `Retry-After`. */
  readonly askedMs?: number | undefined
  readonly random: () => number
}

/**
 * How long to wait before the next try: twice as long each time, up to half a minute, and by chance up to half of it
 * less, so that the clients of a server that comes back do not all come back with it.
 */
export function backOff({ failures, firstMs = FIRST_MS, askedMs, random }: FailedTries): number {
  const doubled = Math.min(LONGEST_MS, Math.max(firstMs, SHORTEST_MS) * 2 ** Math.min(failures - 1, 16))
  const own = doubled * (1 - random() / 2)
  return askedMs === undefined ? own : Math.min(MAX_REQUESTED_MS, Math.max(askedMs, own))
}
