import { type LifeOutcome, type NotedEffect, OWN_WRITE } from "./life-files.ts"
import type { CrashScenario } from "./scenario.ts"
import type { Played } from "./spawn-life.ts"

/** What a whole life was like, and what of it varies by itself: in two whole lives it was not the same. */
export interface Baseline {
  readonly played: Played
  readonly outcome: LifeOutcome
  readonly varies: ReadonlySet<number>
}

export function toBaseline(one: Played, other: Played): Baseline | string {
  const [first, second] = [one.outcome, other.outcome]
  if (!first || !second) return one.failure ?? other.failure ?? "it did not come to its end"
  const [problem] = [...one.problems, ...other.problems]
  if (problem !== undefined) return problem
  if (first.transcript.length !== second.transcript.length)
    return "two whole runs of it are not alike, so that nothing can be said of one that was killed"
  const varies = first.transcript.flatMap(({ text }, at) => (text === second.transcript[at]?.text ? [] : [at]))
  return { played: one, outcome: first, varies: new Set(varies) }
}

interface KilledAt {
  readonly when: "before" | "after"
  readonly what: string
}

/** What is not as in the whole life, in sentences; empty where all is. */
export function differencesOf(
  baseline: Baseline,
  played: Played,
  { mayRunAgain, killed }: Pick<CrashScenario, "mayRunAgain"> & { readonly killed: KilledAt },
): string[] {
  const { outcome, failure, problems, effects } = played
  if (!outcome) return [`The new process did not come to the end: ${failure ?? "nobody knows why"}.`]
  return [
    ...problems.slice(0, 1).map((problem) => `The provider was sent a broken history. ${problem}`),
    ...ranTooOften(baseline.played.effects, effects, { mayRunAgain: new Set(mayRunAgain), killed }),
    ...transcriptDiffers(baseline, outcome),
  ]
}

function ranTooOften(
  whole: readonly NotedEffect[],
  effects: readonly NotedEffect[],
  { mayRunAgain, killed }: { readonly mayRunAgain: ReadonlySet<string>; readonly killed: KilledAt },
): string[] {
  const usual = timesOf(whole)
  // It was begun and had done nothing yet: its target says so, and it is begun once more.
  const mayBeBegunAgain = killed.what === OWN_WRITE && killed.when === "before"
  return [...timesOf(effects)].flatMap(([key, { effect, times }]) => {
    const { tool, afterCrash, effect: kind } = effect
    const most = usual.get(key)?.times ?? 0
    if (kind === "read" || times <= most || mayRunAgain.has(tool)) return []
    if (afterCrash === "ask-target" && mayBeBegunAgain && times === most + 1) return []
    return [
      `${tool} ran ${times} times where it runs ${most === 1 ? "once" : `${most} times`}. ${whatToDeclare(afterCrash)}`,
    ]
  })
}

function whatToDeclare(afterCrash: string): string {
  if (afterCrash === "run-again")
    return 'It declares afterCrash: "run-again". Unless a second time changes nothing (then name it in mayRunAgain), declare "ask-target" with an outcome that looks for the call id, or "in-doubt".'
  if (afterCrash === "ask-target")
    return 'It declares afterCrash: "ask-target", and its outcome said of a call that had been carried out that it had not: keep the call id with the effect, in one transaction.'
  return `It declares afterCrash: "${afterCrash}", and should not have run again: what it does is done before or outside of its call.`
}

/** How often each write was begun, by what it was asked for. */
function timesOf(effects: readonly NotedEffect[]): Map<string, { readonly effect: NotedEffect; times: number }> {
  const times = new Map<string, { readonly effect: NotedEffect; times: number }>()
  for (const effect of effects) {
    if (effect.phase !== "begun") continue
    const key = `${effect.tool} ${effect.input}`
    const known = times.get(key)
    if (known) known.times++
    else times.set(key, { effect, times: 1 })
  }
  return times
}

function transcriptDiffers({ outcome: whole, varies }: Baseline, { transcript }: LifeOutcome): string[] {
  const length = Math.max(whole.transcript.length, transcript.length)
  for (let at = 0; at < length; at++) {
    const [then, now] = [whole.transcript[at], transcript[at]]
    if (now?.wasInDoubt) continue // a person has decided about it: what it says is theirs
    const isSame = then?.who === now?.who && (varies.has(at) || then?.text === now?.text)
    if (isSame) continue
    const found = now ? `"${now.who}: ${short(now.text)}"` : "nothing"
    const sought = then ? `"${then.who}: ${short(then.text)}"` : "nothing"
    return [`The transcript differs at line ${at + 1}: ${found} where it says ${sought}.${advice(now?.who)}`]
  }
  return []
}

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

function advice(who: string | undefined): string {
  if (who === "result interrupted") return ' A read that may run again after a crash declares afterCrash: "run-again".'
  return ""
}
