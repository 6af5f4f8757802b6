import { timeAfter } from "../../protocol/time/words.ts"

export interface RetryAfter {
  readonly retryAfterMs?: number
  /** The same as a time: an error is read again when "in an hour" is no longer true. */
  readonly retryAt?: string
}

/** How long a provider asks us to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, now: number): RetryAfter {
  const { retryAfterMs } = waitOf(headers, now)
  if (retryAfterMs === undefined) return {}
  const retryAt = timeAfter(now, retryAfterMs)
  return retryAt === undefined ? { retryAfterMs } : { retryAfterMs, retryAt }
}

function waitOf(headers: Readonly<Record<string, string | undefined>>, now: number): { retryAfterMs?: number } {
  const exact = Number.parseFloat(headers["retry-after-ms"] ?? "")
  if (exact >= 0) return { retryAfterMs: exact }
  const value = headers["retry-after"]?.trim()
  if (!value) return {}
  const seconds = Number(value)
  if (seconds >= 0) return { retryAfterMs: seconds * 1000 }
  const date = Date.parse(value)
  return Number.isNaN(date) ? {} : { retryAfterMs: Math.max(0, date - now) }
}
