import { z } from "zod"
import { lazily } from "../lazily.ts"

const FIGURES = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/

/** Whether this is a day of the calendar, `2026-11-20`. */
export function isDay(text: unknown): text is string {
  if (typeof text !== "string" || !FIGURES.test(text) || text.startsWith("0000")) return false
  // `Date` takes the 31st of February for the 3rd of March.
  return new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
}

/** A whole day, wherever on earth: it has no zone and does not move with one. */
export const Day = lazily(() =>
  z.string().regex(FIGURES, "expected a day such as 2026-11-20").refine(isDay, "there is no such day"),
)

/** As far as calendars go, in both directions: beyond it no program can say which day it is. */
export const LAST_MOMENT = 8_640_000_000_000_000

/** Milliseconds since 1970. */
export const CalendarMoment = lazily(() => z.number().int().min(-LAST_MOMENT).max(LAST_MOMENT))

/** A whole day, or a moment in milliseconds where a time is meant. */
export const DayOrMoment = lazily(() => z.union([CalendarMoment, Day]))
export type DayOrMoment = z.infer<typeof DayOrMoment>
