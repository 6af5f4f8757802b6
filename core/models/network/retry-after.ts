import { timeAfter } from "../../shared/time/retry-time.ts"

export interface RetryAfter {
  readonly retryAfterMs?: number
  /** The same as a time, because an error may be read later. */
  readonly retryAt?: string
}

/**
 * How long a provider asks to wait: from `retry-after-ms`, from `retry-after` in seconds or as a date, or from its
 * message.
 */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, now: number, words = ""): RetryAfter {
  const { retryAfterMs = waitInWords(words) } = waitOf(headers, now)
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

/** Google reports it only in its message: `Please retry in 58.82s.`, or `1h2m3.4s`. Does not match milliseconds. */
const WAIT = /\bretry in (?:(\d{1,4})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,6}(?:\.\d{1,12})?)s)?/i

function waitInWords(words: string): number | undefined {
  const [, hours, minutes, seconds] = WAIT.exec(words) ?? []
  if (hours === undefined && minutes === undefined && seconds === undefined) return undefined
  return Math.ceil(((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1000)
}
