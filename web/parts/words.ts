/** Small things in words; those that the terminal says too are the client's. */
export { count, dollars, duration, humanName, titleOf } from "../../src/client/index.ts"

export function time(iso: string): string {
  const date = new Date(iso)
  const isToday = date.toDateString() === new Date().toDateString()
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const)
  return date.toLocaleString(undefined, { hour: "2-digit", minute: "2-digit", ...day })
}
