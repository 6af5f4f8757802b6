import type { Usage } from "../../core/protocol/conversation/message.ts"
import { count, dollars, duration } from "../format.ts"
import type { TimelineEntry, TimelineKind } from "./following.ts"

/** The totals of a run: durations in milliseconds, counts, tokens and cost. Simultaneous periods are counted once. */
export interface Totals {
  readonly ms: number
  readonly modelMs: number
  readonly callMs: number
  readonly waitingMs: number
  readonly modelCalls: number
  readonly calls: number
  /** The number of retries, restarts and fallbacks. */
  readonly troubles: number
  /** Retried requests, continuations after a crash, and fallbacks to another model. */
  readonly retries: number
  readonly restarts: number
  readonly fallbacks: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Input tokens read from the provider's cache. */
  readonly cachedTokens: number
  /** In US dollars; null if a price is unknown. */
  readonly cost: number | null
}

export function totalsOf(entries: readonly TimelineEntry[], ms: number): Totals {
  const used = entries.flatMap(({ usage }) => usage ?? [])
  const sum = (key: "inputTokens" | "outputTokens" | "cachedTokens") =>
    used.reduce((total, usage) => total + (usage[key] ?? 0), 0)
  const troubled = (which: TimelineEntry["trouble"]) => entries.filter(({ trouble }) => trouble === which).length
  const known = used.every(({ cost }) => typeof cost === "number")
  return {
    ms,
    modelMs: covered(entries, ["model", "stage"]),
    callMs: covered(entries, ["call"]),
    waitingMs: covered(entries, ["wait"]),
    modelCalls: used.length,
    calls: entries.filter(({ kind }) => kind === "call").length,
    troubles: entries.filter(({ kind }) => kind === "trouble").length,
    ...{ retries: troubled("retry"), restarts: troubled("restart"), fallbacks: troubled("fallback") },
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedTokens: sum("cachedTokens"),
    cost: known ? used.reduce((total, { cost }) => total + (cost ?? 0), 0) : null,
  }
}

/** How much of the run these entries cover; simultaneous ones count once. */
function covered(entries: readonly TimelineEntry[], kinds: readonly TimelineKind[]): number {
  let [total, until] = [0, 0]
  for (const { kind, at, ms = 0 } of entries) {
    if (!kinds.includes(kind)) continue
    total += Math.max(0, at + ms - Math.max(at, until))
    until = Math.max(until, at + ms)
  }
  return total
}

type Used = Pick<Usage, "inputTokens" | "outputTokens" | "cachedTokens" | "cost">

/** Describes a run's totals in sentences. Omits totals that are zero. */
export function describeTotals(totals: Totals, locale = "en"): string[] {
  const { ms, modelMs, callMs, waitingMs, modelCalls, calls, retries, restarts, fallbacks, ...used } = totals
  const times = [`${duration(ms)} in total`, `models ${duration(modelMs)}`, `tools ${duration(callMs)}`]
  if (waitingMs > 0) times.push(`waiting ${duration(waitingMs)}`)
  const counts = [count(modelCalls, "model call", undefined, locale), count(calls, "tool call", undefined, locale)]
  if (restarts > 0) counts.push(count(restarts, "restart", undefined, locale))
  if (retries > 0) counts.push(count(retries, "retry", "retries", locale))
  if (fallbacks > 0) counts.push(count(fallbacks, "fallback", undefined, locale))
  const tokens = formatUsage(used, locale)
  const unknown = used.cost === null ? ", price unknown" : ""
  return [times.join(" · "), counts.join(" · "), ...(tokens ? [tokens + unknown] : [])]
}

/** Formats token usage and cost, such as `812 → 44 tokens, 700 cached, $0.0031`; empty if there is no count. */
export function formatUsage({ inputTokens, outputTokens, cachedTokens, cost }: Used, locale = "en"): string {
  if (!inputTokens && !outputTokens) return ""
  const number = (value: number | null | undefined) => (value ?? 0).toLocaleString(locale)
  const tokens = `${number(inputTokens)} → ${number(outputTokens)} tokens`
  const cached = cachedTokens ? `, ${number(cachedTokens)} cached` : ""
  return `${tokens}${cached}${cost ? `, ${dollars(cost)}` : ""}`
}
