import { type DayOrMoment, isDay } from "../../src/protocol/index.ts"

/** Days, which are the same everywhere, and moments, as clocks go where the person is. */

const DAY = 24 * 60 * 60 * 1000

const startOfDay = (instant: number): number => new Date(instant).setHours(0, 0, 0, 0)

/** When it begins here: a day with its first moment. */
export const startOf = (due: DayOrMoment): number =>
  typeof due === "number" ? due : startOfDay(new Date(`${due}T12:00`).getTime()) // at noon no clock is turned

/** `today`, `tomorrow at 17:00`, `Fri 20 Nov`, `3 Jan 2028`. */
export function dueInWords(due: DayOrMoment, now: number): string {
  const instant = startOf(due)
  const date = new Date(instant)
  // By the calendar: a day on which clocks are turned has 23 hours.
  const days = Math.round((startOfDay(instant) - startOfDay(now)) / DAY)
  const near = { [-1]: "yesterday", 0: "today", 1: "tomorrow" }[days]
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  const day =
    near ??
    date.toLocaleDateString(undefined, {
      ...{ day: "numeric", month: "short" },
      ...(isThisYear ? { weekday: "short" } : { year: "numeric" }),
    })
  const time = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })
  return isWholeDay(due) ? day : `${day} at ${time}`
}

/** A day is over when it is over; a time when it has come. */
export const isOverdue = (due: DayOrMoment, now: number): boolean =>
  isWholeDay(due) ? startOf(due) < startOfDay(now) : startOf(due) < now

/** A midnight too: before days were kept as days, it stood for one. */
const isWholeDay = (due: DayOrMoment): boolean => typeof due === "string" || startOfDay(due) === due

const two = (figure: number) => String(figure).padStart(2, "0")

/** For fields of the browser, which speak of days and times without a zone. */
export const toDayField = (due: DayOrMoment | null): string => {
  if (due === null || typeof due === "string") return due ?? ""
  const date = new Date(due)
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export const toTimeField = (due: DayOrMoment | null): string => {
  if (due === null || typeof due === "string" || isWholeDay(due)) return ""
  const date = new Date(due)
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The day, or with a time the moment here; null without a day. */
export function fromFields(day: string, time: string): DayOrMoment | null {
  if (!isDay(day)) return null
  return time === "" ? day : new Date(`${day}T${time}`).getTime() // without a zone it is this one
}

export const zoneName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
