import type { TimelineEntry, TimelineKind } from "./entry.ts"

/** What a run has taken, in sum. Times of things that went on at once are counted once. */
export interface Totals {
  readonly ms: number
  readonly modelMs: number
  readonly callMs: number
  readonly waitingMs: number
  readonly modelCalls: number
  readonly calls: number
  /** How often something broke off, was waited for, or went to another model. */
  readonly troubles: number
  /** Of these: what was asked for once more, how often a server went on after a crash, and answers of another model. */
  readonly retries: number
  readonly restarts: number
  readonly fallbacks: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Of the input: what the provider had in its cache. */
  readonly cachedTokens: number
  /** Dollars; null where the price of some of it is not known. */
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

/** How much of the run was spent on these, however many of them went on at once. */
function covered(entries: readonly TimelineEntry[], kinds: readonly TimelineKind[]): number {
  let [total, until] = [0, 0]
  for (const { kind, at, ms = 0 } of entries) {
    if (!kinds.includes(kind)) continue
    total += Math.max(0, at + ms - Math.max(at, until))
    until = Math.max(until, at + ms)
  }
  return total
}
