/** Dates in the person's own zone. A date without a time is the start of that day there. */

const DAY = 24 * 60 * 60 * 1000

export const startOfDay = (instant: number): number => new Date(instant).setHours(0, 0, 0, 0)

/** `today`, `tomorrow at 17:00`, `Fri 20 Nov`, `3 Jan 2028`. */
export function dueInWords(instant: number, now: number): string {
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
  return isWholeDay(instant) ? day : `${day} at ${time}`
}

/** A day is over when it is over; a time when it has come. */
export const isOverdue = (instant: number, now: number): boolean =>
  isWholeDay(instant) ? instant < startOfDay(now) : instant < now

const isWholeDay = (instant: number): boolean => startOfDay(instant) === instant

const two = (figure: number) => String(figure).padStart(2, "0")

/** For fields of the browser, which speak of days and times without a zone. */
export const toDayField = (instant: number | null): string => {
  if (instant === null) return ""
  const date = new Date(instant)
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export const toTimeField = (instant: number | null): string => {
  if (instant === null || isWholeDay(instant)) return ""
  const date = new Date(instant)
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The instant of a day and a time here; null without a day. */
export function fromFields(day: string, time: string): number | null {
  const instant = new Date(`${day}T${time === "" ? "00:00" : time}`).getTime() // without a zone it is this one
  return Number.isNaN(instant) ? null : instant
}

export const zoneName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
