import type { DayOrMoment } from "../shared/time/day.ts"
import { instantOf, midnight, wallTimeAt } from "./time-zone.ts"

/** The day that a zone's clocks show at an instant, or the day this many days later: `2026-11-20`. */
export function dayAt(instant: number, timeZone: string, daysLater = 0): string {
  const { year, month, day } = wallTimeAt(instant, timeZone)
  return toDay(midnight(year, month, day + daysLater))
}

export function toDay({ year, month, day }: { year: number; month: number; day: number }): string {
  const figures = (figure: number, length: number) => String(figure).padStart(length, "0")
  return `${figures(year, 4)}-${figures(month, 2)}-${figures(day, 2)}`
}

/** The start of a day in a time zone. A moment is its own start. */
export function startOf(when: DayOrMoment, timeZone: string, daysLater = 0): number {
  if (typeof when === "number") return when
  const [year = 0, month = 1, day = 1] = when.split("-").map(Number)
  return instantOf(midnight(year, month, day + daysLater), timeZone)
}

/** The last millisecond of a day in a time zone. */
export const endOf = (when: DayOrMoment, timeZone: string): number =>
  typeof when === "number" ? when : startOf(when, timeZone, 1) - 1

/** `startOf` for many rows: caches the start of each day. */
export function startsIn(timeZone: string): (when: DayOrMoment) => number {
  const known = new Map<string, number>()
  return (when) => {
    if (typeof when === "number") return when
    let start = known.get(when)
    if (start === undefined) known.set(when, (start = startOf(when, timeZone)))
    return start
  }
}

/**
 * The moment stored next to a day, for programs that know only moments: at noon UTC almost every time zone shows this day.
 */
export const noonOf = (day: string): number => Date.parse(`${day}T12:00:00Z`)
