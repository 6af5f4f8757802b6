import { standsAt, type RequestText } from "./words.ts"

/** A time of day in a request: where it ends, and how the reader of dates is told it. */
export interface ClockTime {
  readonly end: number
  readonly words: string
  /** An hour that is in the morning and in the afternoon: `at 5`. */
  readonly twice?: number
}

const TIME = /^(?<hour>\d{1,2})(?:[:.](?<minute>[0-5]\d))?(?<half>am|pm|a\.m|p\.m|h|uhr)?$/
const NAMED: Readonly<Record<string, string>> = { noon: "12:00", midday: "12:00" }
/** From eight on, an hour without `am` or `pm` is one of the working day. */
const EARLIEST_SURE = 8

/** A time that begins at a word of the phrase, with or without `at` before it. */
export function readTime(phrase: RequestText, from: number): ClockTime | undefined {
  const { words } = phrase
  const after = words[from]?.is === "at" || words[from]?.is === "@" ? from + 1 : from
  const said = words[after]?.is ?? ""
  const named = new Map(Object.entries(NAMED)).get(said)
  if (named) return { end: after + 1, words: named }
  const { hour, minute, half } = TIME.exec(said)?.groups ?? {}
  if (hour === undefined) return undefined
  const next = words[after + 1]?.is ?? ""
  const apart = half === undefined && /^(?:am|pm|a\.m|p\.m|uhr)$/.test(next)
  const figures = Number(hour)
  const end = after + (apart ? 2 : standsAt(phrase, after + 1, "o'clock") ? 2 : 1)
  const which = (half ?? (apart ? next : "")).replaceAll(".", "")
  if (which === "am" || which === "pm") {
    if (figures < 1 || figures > 12) return undefined
    const hours = (figures % 12) + (which === "pm" ? 12 : 0)
    return { end, words: clock(hours, minute) }
  }
  // A figure alone is a number of something, unless `at` or `o'clock` stands beside it.
  const sure = minute !== undefined || which !== "" || after > from || end > after + 1
  if (!sure || figures > 23) return undefined
  const isTwice = minute === undefined && which === "" && figures >= 1 && figures < EARLIEST_SURE
  return { end, words: clock(figures, minute), ...(isTwice ? { twice: figures } : {}) }
}

export const clock = (hours: number, minute = "00"): string => `${String(hours).padStart(2, "0")}:${minute}`
