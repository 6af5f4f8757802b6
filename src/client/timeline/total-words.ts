import type { Usage } from "../../protocol/conversation/message.ts"
import { count, dollars, duration } from "../words.ts"
import type { Totals } from "./totals.ts"

type Used = Pick<Usage, "inputTokens" | "outputTokens" | "cachedTokens" | "cost">

/** What a run has taken, a sentence for each kind of sum; those of which there is nothing to say are left out. */
export function totalWords(totals: Totals, locale = "en"): string[] {
  const { ms, modelMs, callMs, waitingMs, modelCalls, calls, retries, restarts, fallbacks, ...used } = totals
  const times = [`${duration(ms)} in all`, `models ${duration(modelMs)}`, `calls ${duration(callMs)}`]
  if (waitingMs > 0) times.push(`waited ${duration(waitingMs)}`)
  const counts = [count(modelCalls, "model call", undefined, locale), count(calls, "call", undefined, locale)]
  if (restarts > 0) counts.push(count(restarts, "restart", undefined, locale))
  if (retries > 0) counts.push(count(retries, "retry", "retries", locale))
  if (fallbacks > 0) counts.push(count(fallbacks, "fallback", undefined, locale))
  const tokens = usedWords(used, locale)
  const unknown = used.cost === null ? ", price not known" : ""
  return [times.join(" · "), counts.join(" · "), ...(tokens ? [tokens + unknown] : [])]
}

/** `812 → 44 tokens, 700 cached, $0.0031`; nothing where nobody has counted. */
export function usedWords({ inputTokens, outputTokens, cachedTokens, cost }: Used, locale = "en"): string {
  if (!inputTokens && !outputTokens) return ""
  const number = (value: number | null | undefined) => (value ?? 0).toLocaleString(locale)
  const tokens = `${number(inputTokens)} → ${number(outputTokens)} tokens`
  const cached = cachedTokens ? `, ${number(cachedTokens)} cached` : ""
  return `${tokens}${cached}${cost ? `, ${dollars(cost)}` : ""}`
}
