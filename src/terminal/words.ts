import type { Usage } from "../protocol/message.ts"

/** Small things in words. */

/** `create_task` as a person would say it: `Create task`. */
export function humanName(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").trim()
  return words === "" ? name : words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** `420 ms`, `2.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`

/** What model calls have used and cost, as far as their provider says. */
export function usageWords({ inputTokens, outputTokens, cost }: Usage): string {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0)
  if (tokens === 0) return ""
  const dollars = cost ? ` · $${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}` : ""
  return count(tokens, "token") + dollars
}
