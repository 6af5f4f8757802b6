/** Small things in words; those that the terminal says too are the client's. */
import { count as countIn } from "../../src/client/index.ts"
import { LAST_MOMENT } from "../../src/protocol/index.ts"

export { aboutTime, dollars, duration, humanName, titleOf } from "../../src/client/index.ts"

/** `5,000 rows`, with its digits grouped as the reader does. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  countIn(number, one, many, navigator.language)

/** A moment; the last that any calendar has, where somebody has kept a later one: as a date that would be none. */
export function time(at: string | number): string {
  const date = new Date(typeof at === "number" ? Math.min(Math.max(at, -LAST_MOMENT), LAST_MOMENT) : at)
  const isToday = date.toDateString() === new Date().toDateString()
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const)
  return date.toLocaleString(undefined, { hour: "2-digit", minute: "2-digit", ...day })
}

/** What a model needs, without the route for programs: a person stores a key of their own in the settings. */
export const forPeople = (need: string): string => need.replace(/: [A-Z]+ \/api\/\S+$/, " in Settings")
