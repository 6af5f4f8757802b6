/** Dates, numbers and lists as the chosen language and the region of the browser write them. */
import { formatBytes, LAST_MOMENT } from "../../../core/protocol/index.ts"
import { currentLanguage, locale } from "./language.ts"
import { numberFormat } from "./message.ts"
import { t } from "./strings.ts"

export const number = (value: number): string => numberFormat(locale()).format(value)

/** The double quotation marks of all scripts that could pass for ours, and the backslash that escapes them. */
const MARKS = /["\\“”„‟«»″＂]/gu

/**
 * Text that someone else wrote, for use inside a sentence of ours. Quotation marks in the text are escaped, so the text
 * cannot close the quotation and continue as our own words.
 */
export function quoted(text: string): string {
  const escaped = text.replaceAll(MARKS, (mark) => `\\${mark}`)
  return currentLanguage() === "de" ? `„${escaped}“` : `“${escaped}”`
}

/** `a, b and c`. */
export const list = (items: readonly string[]): string => new Intl.ListFormat(locale()).format(items)

/** The size of a file or a store: `1.5 GB`. */
export const fileSize = (bytes: number): string =>
  formatBytes(bytes)
    .replace(/^[\d.]+/, (digits) => number(Number(digits)))
    .replace(/bytes$/, t("common.bytes"))

/** A time of today as hours and minutes; any other with its day. */
export function time(at: string | number): string {
  const date = toDate(at)
  const isToday = date.toDateString() === new Date().toDateString()
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const)
  return date.toLocaleString(locale(), { hour: "2-digit", minute: "2-digit", ...day })
}

/** Hours and minutes. */
export const clock = (at: string | number): string =>
  toDate(at).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" })

/** Hours, minutes and seconds. */
export const timeWithSeconds = (at: string | number): string =>
  toDate(at).toLocaleTimeString(locale(), { timeStyle: "medium" })

/** `31 Jan 2027`. */
export const day = (at: string | number): string => toDate(at).toLocaleDateString(locale(), { dateStyle: "medium" })

/** `31 Jan 2027, 17:00`. */
export const dayAndTime = (at: string | number): string =>
  toDate(at).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" })

/** A program may have stored a time after the last that a `Date` holds, which would otherwise read “Invalid Date”. */
const toDate = (at: string | number): Date =>
  new Date(typeof at === "number" ? Math.min(Math.max(at, -LAST_MOMENT), LAST_MOMENT) : at)

/** `0.42` as `42%`, or `42 %`. */
export const percent = (part: number): string => part.toLocaleString(locale(), { style: "percent" })

/** A number of tokens, such as `812`, `1.2k` or `64k`. */
export function tokenCount(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  const thousands = tokens / 1000
  return `${thousands < 10 ? thousands.toLocaleString(locale(), { maximumFractionDigits: 1 }) : Math.round(thousands)}k`
}

/** The size of a context window, such as `128k` or `1M`. Powers of two count as round. */
export function windowSize(tokens: number): string {
  const thousands = tokens / (tokens % 1000 !== 0 && tokens % 1024 === 0 ? 1024 : 1000)
  if (thousands < 1000) return `${Math.round(thousands)}k`
  return `${(thousands / 1000).toLocaleString(locale(), { maximumFractionDigits: 1 })}M`
}

/** `420 ms`, `2.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${decimals(ms / 1000, 1)} s`
  const seconds = Math.round(ms / 1000)
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** How long something may take: `less than 10 s`, `about 40 s`, `about 3 min`, `about 1 h 20 min`. */
export function formatEstimate(seconds: number): string {
  if (seconds < 10) return t("common.lessThanSeconds", { seconds: 10 })
  return t("common.about", { time: roundedTime(seconds) })
}

function roundedTime(seconds: number): string {
  if (seconds < 55) return `${Math.ceil(seconds / 10) * 10} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const [hours, rest] = [Math.floor(minutes / 60), Math.ceil((minutes % 60) / 10) * 10]
  if (rest === 60) return `${hours + 1} h`
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}

/** An amount in US dollars. Less than a cent is shown with two digits that count, never as 0.00. */
export function dollars(cost: number): string {
  if (cost === 0) return t("common.free")
  const digits = cost < 0.01 ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  const options = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", ...digits } as const
  return new Intl.NumberFormat(locale(), options).format(cost)
}

/** A price with three digits that count, and without a fraction that is zero: `$3`, `$0.15`. */
export const roundDollars = (amount: number): string =>
  new Intl.NumberFormat(locale(), {
    ...{ style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" },
    ...{ maximumSignificantDigits: 3, trailingZeroDisplay: "stripIfInteger" },
  }).format(amount)

const decimals = (value: number, digits: number): string =>
  value.toLocaleString(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits })
