import type { ParsedResult } from "chrono-node/en"
import {
  dayAt,
  type DayOrMoment,
  failure,
  instantOf,
  isDay,
  midnight,
  toDay,
  utcOf,
  wallTimeAt,
} from "../../../core/pack.ts"

/** The time and time zone that a date refers to. The time is that of the call, so `tomorrow` stays the same day. */
export interface DateContext {
  readonly now: number
  readonly timeZone: string
}

/** A day, or a time with or without its zone. */
const ISO = /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(?<zone>Z|[+-]\d\d:?\d\d)?)?$/i
const NO_TIME = /^00:00(?::00(?:\.0+)?)?$/
const MILLISECONDS = /^\d{11,15}$/
/** The years 0001 to 9999, the range of four digits. */
export const EARLIEST = -62_135_596_800_000
export const LATEST = 253_402_300_799_999
/** Longer texts are not searched for a date. */
export const LONGEST_DATE = 100

/**
 * Reads a date: ISO, milliseconds, or English words in the user's time zone. Without a time it is a day, `2026-11-20`,
 * which is the same day everywhere; with one it is a moment. The whole text must be understood, because part of it may
 * mean another day.
 */
export async function readDate(input: string | number, here: DateContext): Promise<DayOrMoment> {
  if (typeof input === "number") return input
  const text = input.trim().replaceAll(/\s+/g, " ")
  const found = text.length > LONGEST_DATE ? undefined : (readFigures(text, here) ?? (await readWords(text, here)))
  const isDate = typeof found === "number" ? found >= EARLIEST && found <= LATEST : isDay(found)
  if (!isDate || found === undefined) throw notADate(input)
  return found
}

function notADate(input: string) {
  const examples = "2027-01-31, 2027-01-31T17:00, tomorrow, next friday, in 3 days, end of month, tomorrow at 5pm"
  return failure("bad_request", {
    problem: `"${input.slice(0, LONGEST_DATE)}" is not a date. Dates look like ${examples}`,
  })
}

/** Reads numeric dates. NaN for a day that does not exist; undefined if the text is not numeric. */
function readFigures(text: string, { timeZone }: DateContext): DayOrMoment | undefined {
  if (MILLISECONDS.test(text)) return Number(text)
  // 10/11 is a day in November to some and in October to others.
  if (/^\d{1,2}[/.-]\d{1,2}\b/.test(text)) return Number.NaN
  const { day, time = "00:00", zone } = ISO.exec(text)?.groups ?? {}
  if (!day) return undefined
  // A midnight without a zone means the day: the tools have always described it so, and models fill in missing times.
  if (!zone && NO_TIME.test(time)) return isDay(day) ? day : Number.NaN
  const asUtc = Date.parse(`${day}T${time}Z`)
  // Date.parse reads 31 February as 3 March, and 24:00 as the next day.
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(day)) return Number.NaN
  if (zone) return Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  const milliseconds = ((asUtc % 1000) + 1000) % 1000
  return instantOf(wallTimeAt(asUtc, "UTC"), timeZone) + milliseconds
}

async function readWords(text: string, here: DateContext): Promise<DayOrMoment | undefined> {
  const words = text
    .toLowerCase()
    .replace(/^(?:due |by |until |before |on )+/, "")
    .replace(/^day (?=after tomorrow|before yesterday)/, "the day ")
  const edge = readEdge(words, here)
  if (edge !== undefined) return edge
  // Imported on first use, because the import takes longer than the rest of the start.
  const { parse } = await import("chrono-node/en")
  // The parser works with wall-clock time as if it were UTC. It is converted to an instant below.
  const wall = utcOf(wallTimeAt(here.now, here.timeZone))
  const forwardDate = !/\b(?:last|past|previous|ago|yesterday)\b/.test(words)
  const found = parse(words, { instant: new Date(wall), timezone: 0 }, { forwardDate })
  const [only] = found
  if (!only || found.length > 1 || only.end || only.text !== words) return undefined
  return toDayOrMoment(only, here, wall)
}

function toDayOrMoment({ start }: ParsedResult, { now, timeZone }: DateContext, wall: number): DayOrMoment {
  const tags = [...start.tags()]
  // `in 3 hours` is a duration: independent of a clock change in between.
  if (tags.includes("result/relativeDateAndTime") || tags.includes("casualReference/now"))
    return now + (start.date().getTime() - wall)
  const of = (part: "year" | "month" | "day" | "hour" | "minute" | "second") => start.get(part) ?? 0
  const day = midnight(of("year"), of("month"), of("day"))
  const timed = start.isCertain("hour") || tags.some((tag) => TIMES_OF_DAY.test(tag))
  if (!timed) return toDay(day)
  const time = { ...day, hour: of("hour"), minute: of("minute"), second: of("second") }
  // `5pm EST` contains its own zone.
  const own = start.isCertain("timezoneOffset") ? start.get("timezoneOffset") : null
  return own === null ? instantOf(time, timeZone) : utcOf(time) - own * 60_000
}

const TIMES_OF_DAY = /^casualReference\/(?:tonight|morning|noon|afternoon|evening|night|midnight)$/

const EDGE =
  /^(?:the )?(?<edge>start|beginning|end) of (?:the )?(?<which>this |next )?(?<span>week|month|quarter|year)$/

/** The first or last day of a week (which starts on Monday), month, quarter or year. */
function readEdge(words: string, { now, timeZone }: DateContext): string | undefined {
  const { edge, which, span } = EDGE.exec(words)?.groups ?? {}
  if (!edge || !span) return undefined
  const next = which === "next " ? 1 : 0
  const last = edge === "end" ? 1 : 0
  const today = wallTimeAt(now, timeZone)
  if (span === "week") {
    const sinceMonday = (new Date(utcOf(today)).getUTCDay() + 6) % 7
    return dayAt(now, timeZone, -sinceMonday + 7 * (next + last) - last)
  }
  const months = { month: 1, quarter: 3, year: 12 }[span] ?? 1
  const first = today.month - ((today.month - 1) % months)
  // The day before the first day of the next period.
  return toDay(midnight(today.year, first + months * (next + last), 1 - last))
}
