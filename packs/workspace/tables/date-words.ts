import { type DayOrMoment, noonOf, utcOf, wallTimeAt } from "../../../core/pack.ts"

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
]

/**
 * `Friday 20 November 2026`, with the time if a moment is not midnight. A midnight is shown as a day, because days were
 * stored as midnights in earlier versions.
 */
export function dateInWords(when: DayOrMoment, timeZone: string): string {
  const isDay = typeof when === "string"
  const wall = isDay ? wallTimeAt(noonOf(when), "UTC") : wallTimeAt(when, timeZone)
  const weekday = WEEKDAYS[new Date(utcOf(wall)).getUTCDay()]
  const day = `${weekday} ${wall.day} ${MONTHS[wall.month - 1]} ${wall.year}`
  if (isDay || wall.hour + wall.minute + wall.second === 0) return day
  const figures = wall.second === 0 ? [wall.hour, wall.minute] : [wall.hour, wall.minute, wall.second]
  return `${day} at ${figures.map((figure) => String(figure).padStart(2, "0")).join(":")}`
}

/** The same, with the time zone of a moment, because a person approves it. */
export const dateAndZone = (when: DayOrMoment, timeZone: string): string =>
  typeof when === "string" ? dateInWords(when, timeZone) : `${dateInWords(when, timeZone)} (${timeZone})`
