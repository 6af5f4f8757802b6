import { wallTimeAt, utcOf } from "./time-zone.ts"

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
]

/** `Friday 20 November 2026`, and the time where it is not the start of the day there. */
export function dateInWords(instant: number, timeZone: string): string {
  const wall = wallTimeAt(instant, timeZone)
  const weekday = WEEKDAYS[new Date(utcOf(wall)).getUTCDay()]
  const day = `${weekday} ${wall.day} ${MONTHS[wall.month - 1]} ${wall.year}`
  if (wall.hour + wall.minute + wall.second === 0) return day
  const figures = wall.second === 0 ? [wall.hour, wall.minute] : [wall.hour, wall.minute, wall.second]
  return `${day} at ${figures.map((figure) => String(figure).padStart(2, "0")).join(":")}`
}

/** The same with its zone, for somebody who is to agree to it. */
export const dateAndZone = (instant: number, timeZone: string): string =>
  `${dateInWords(instant, timeZone)} (${timeZone})`
