import { LAST_MOMENT } from "../shared/time/day.ts"

/** A local time in some time zone. `month` is 1 to 12. */
export interface WallTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

const DAY_MS = 86_400_000
const MAX_FORMATS = 100
const formats = new Map<string, Intl.DateTimeFormat>()

/** The local time of an instant, limited to what dates support. */
export function wallTimeAt(instant: number, timeZone: string): WallTime {
  const shown = Math.min(Math.max(instant, -LAST_MOMENT), LAST_MOMENT)
  const parts = Object.fromEntries(
    formatFor(timeZone)
      .formatToParts(shown)
      .map(({ type, value }) => [type, +value]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return { year, month, day, hour, minute, second }
}

/**
 * The instant of a local time. If the clocks show it twice, the first one. If they skip it, the time shifted by the skip,
 * so that a day without a midnight starts at its first moment.
 */
export function instantOf(wall: WallTime, timeZone: string): number {
  const asUtc = utcOf(wall)
  // The offsets before and after a possible change: no zone changes twice within two days.
  const before = asUtc - offsetAt(asUtc - DAY_MS, timeZone)
  const after = asUtc - offsetAt(asUtc + DAY_MS, timeZone)
  const fitting = [before, after].filter((instant) => utcOf(wallTimeAt(instant, timeZone)) === asUtc)
  return fitting.length > 0 ? Math.min(...fitting) : before
}

/** The first moment of the local day of an instant, or of the day `daysLater` days after it. */
export function startOfDay(instant: number, timeZone: string, daysLater = 0): number {
  const { year, month, day } = wallTimeAt(instant, timeZone)
  return instantOf(midnight(year, month, day + daysLater), timeZone)
}

/** A day after the end of the month becomes a day of the next month, as in `Date`. */
export function midnight(year: number, month: number, day: number): WallTime {
  const date = new Date(utcOf({ year, month, day, hour: 0, minute: 0, second: 0 }))
  return {
    ...{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
    ...{ hour: 0, minute: 0, second: 0 },
  }
}

/** The local time read as UTC. `Date.UTC` would read the year 26 as 1926. */
export function utcOf({ year, month, day, hour, minute, second }: WallTime): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.setUTCHours(hour, minute, second)
}

const offsetAt = (instant: number, timeZone: string) =>
  utcOf(wallTimeAt(instant, timeZone)) - Math.floor(instant / 1000) * 1000

/** Cached, because creating a format takes longer than using it. */
function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const figures = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric" } as const
  const exact = { minute: "numeric", second: "numeric", hourCycle: "h23" } as const
  const made = new Intl.DateTimeFormat("en-US", { timeZone, ...figures, ...exact })
  // A zone has many spellings, so the cache is bounded.
  if (formats.size >= MAX_FORMATS) formats.clear()
  formats.set(timeZone, made)
  return made
}
