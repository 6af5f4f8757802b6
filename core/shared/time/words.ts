const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]
/** No date is later, and no provider means one. */
const LATEST = Date.UTC(9999, 11, 31)

/** A moment that is so far away, as ISO 8601; undefined where it is no date. */
export function timeAfter(now: number, ms: number): string | undefined {
  const at = now + ms
  return at <= LATEST ? new Date(at).toISOString() : undefined
}

/** How long and until when, for a sentence that is read again later: `in 2 h, after 2026-11-16 14:05 UTC`. */
export function whenWords(ms: number, at: string | undefined): string {
  const long = lengthOf(ms)
  if (at === undefined) return `in ${long}`
  // To the minute, and never too early.
  const time =
    ms < MINUTE ? at.slice(0, 19) : new Date(Math.ceil(Date.parse(at) / MINUTE) * MINUTE).toISOString().slice(0, 16)
  return `in ${long}, after ${time.replace("T", " ")} UTC`
}

/** How long whoever failed has asked us to stay away; 0 where nobody has said. At most a day: then it is worth a look. */
export function waitAskedBy(error: unknown): number {
  const ms = (error as { details?: { retryAfterMs?: unknown } } | undefined)?.details?.retryAfterMs
  return typeof ms === "number" && ms > 0 ? Math.min(ms, DAY) : 0
}

function lengthOf(ms: number): string {
  if (ms <= 2 * MINUTE) return `${Math.ceil(ms / SECOND)} s`
  if (ms <= 2 * HOUR) return `${Math.ceil(ms / MINUTE)} min`
  return ms <= 2 * DAY ? `${Math.ceil(ms / HOUR)} h` : `${Math.ceil(ms / DAY)} days`
}
