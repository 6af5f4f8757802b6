/** Small things in words; those that the terminal says too are the client's. */
export { count, dollars, duration, humanName, titleOf } from "../../src/client/index.ts"

export function time(iso: string): string {
  const date = new Date(iso)
  const isToday = date.toDateString() === new Date().toDateString()
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const)
  return date.toLocaleString(undefined, { hour: "2-digit", minute: "2-digit", ...day })
}

/** What a model needs, without the route for programs: a person stores a key of their own in the settings. */
export const forPeople = (need: string): string => need.replace(/: [A-Z]+ \/api\/\S+$/, " in Settings")
