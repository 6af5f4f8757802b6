const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]
/** No provider means a later date. */
const LATEST = Date.UTC(9999, 11, 31)

/** The time after this many milliseconds as ISO 8601; undefined if it is not a valid date. */
export function timeAfter(now: number, ms: number): string | undefined {
  const at = now + ms
  return at <= LATEST ? new Date(at).toISOString() : undefined
}

/** How long and until when, for a sentence that may be read later: `in 2 h, after 2026-11-16 14:05 UTC`. */
export function retryTimeText(ms: number, at: string | undefined): string {
  const long = lengthOf(ms)
  if (at === undefined) return `in ${long}`
  // To the minute, and never too early.
  const time =
    ms < MINUTE ? at.slice(0, 19) : new Date(Math.ceil(Date.parse(at) / MINUTE) * MINUTE).toISOString().slice(0, 16)
  return `in ${long}, after ${time.replace("T", " ")} UTC`
}

/** How long a failed service asked us to wait; 0 if it did not. At most a day, after which it is tried anyway. */
export function requestedWait(error: unknown): number {
  const ms = (error as { details?: { retryAfterMs?: unknown } } | undefined)?.details?.retryAfterMs
  return typeof ms === "number" && ms > 0 ? Math.min(ms, DAY) : 0
}

function lengthOf(ms: number): string {
  if (ms <= 2 * MINUTE) return `${Math.ceil(ms / SECOND)} s`
  if (ms <= 2 * HOUR) return `${Math.ceil(ms / MINUTE)} min`
  return ms <= 2 * DAY ? `${Math.ceil(ms / HOUR)} h` : `${Math.ceil(ms / DAY)} days`
}
