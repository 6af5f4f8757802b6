import { z } from "zod"

const FIGURES = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/

/** Returns true for a valid calendar day, such as `2026-11-20`. */
export function isDay(text: unknown): text is string {
  if (typeof text !== "string" || !FIGURES.test(text) || text.startsWith("0000")) return false
  // `Date` takes the 31st of February for the 3rd of March.
  return new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
}

/** A calendar day without a time zone. */
export const Day = z.string().regex(FIGURES, "expected a day such as 2026-11-20").refine(isDay, "there is no such day")

/** The last moment that JavaScript dates support, in milliseconds since 1 January 1970, UTC. */
export const LAST_MOMENT = 8_640_000_000_000_000

/** A time as whole milliseconds since 1 January 1970, UTC. */
export const CalendarMoment = z.number().int().min(-LAST_MOMENT).max(LAST_MOMENT)

/** A calendar day, or a moment in milliseconds. */
export const DayOrMoment = z.union([CalendarMoment, Day])
export type DayOrMoment = z.infer<typeof DayOrMoment>

/** A day, a month or a year. */
export const PAPER_DATE = /^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$/

export const isPaperDate = (text: string): boolean => PAPER_DATE.test(text)
