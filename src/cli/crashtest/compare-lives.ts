import type { LifeOutcome, NotedEffect } from "./life-files.ts"
import type { CrashScenario } from "./scenario.ts"
import type { Played } from "./play-lives.ts"

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
  if (first.shortfall !== undefined) return first.shortfall
  if (first.transcript.length !== second.transcript.length)
    return "two whole runs of it are not alike, so that nothing can be said of one that was killed"
  const varies = first.transcript.flatMap(({ text }, at) => (text === second.transcript[at]?.text ? [] : [at]))
  return { played: one, outcome: first, varies: new Set(varies) }
}

/** What is not as in the whole life, in sentences; empty where all is. */
export function differencesOf(
  baseline: Baseline,
  played: Played,
  { mayRunAgain }: Pick<CrashScenario, "mayRunAgain">,
): string[] {
  const { outcome, failure, problems, effects } = played
  if (!outcome) return [`The new process did not come to the end: ${failure ?? "nobody knows why"}.`]
  return [
    ...problems.slice(0, 1).map((problem) => `The provider was sent a broken history. ${problem}`),
    ...ranTooOften(baseline.played.effects, effects, new Set(mayRunAgain)),
    ...transcriptDiffers(baseline, outcome),
  ]
}

function ranTooOften(
  whole: readonly NotedEffect[],
  effects: readonly NotedEffect[],
  mayRunAgain: ReadonlySet<string>,
): string[] {
  const usual = triesOf(whole)
  return [...triesOf(effects)].flatMap(([key, { effect, tries }]) => {
    const { tool, afterCrash, effect: kind } = effect
    if (kind === "read" || mayRunAgain.has(tool)) return []
    const known = usual.get(key)?.tries ?? []
    // Of a tool whose doing is seen, a try that was cut off before it did anything is none.
    const isSeen = known.some(({ touched }) => touched)
    const times = isSeen ? tries.filter(({ touched }) => touched).length : tries.length
    if (times <= known.length) return []
    const most = known.length === 1 ? "once" : `${known.length} times`
    return [`${tool} ran ${times} times where it runs ${most}. ${whatToDeclare(afterCrash)}`]
  })
}

function whatToDeclare(afterCrash: string): string {
  if (afterCrash === "run-again")
    return 'It declares afterCrash: "run-again". Unless a second time changes nothing (then name it in mayRunAgain), declare "ask-target" with an outcome that looks for the call id, or "in-doubt".'
  if (afterCrash === "ask-target")
    return 'It declares afterCrash: "ask-target", and its outcome said of a call that had been carried out that it had not: keep the call id with the effect, in one transaction.'
  return `It declares afterCrash: "${afterCrash}", and should not have run again: what it does is done before or outside of its call.`
}

interface TriedEffect {
  readonly effect: NotedEffect
  /** Each time that it was begun, and whether it did something then. */
  readonly tries: { readonly call: string; touched: boolean }[]
}

/** How often each call was begun, by what was asked for. */
function triesOf(effects: readonly NotedEffect[]): Map<string, TriedEffect> {
  const found = new Map<string, TriedEffect>()
  for (const effect of effects) {
    const key = `${effect.tool} ${effect.input}`
    const { tries } = found.get(key) ?? found.set(key, { effect, tries: [] }).get(key)!
    if (effect.phase === "begun") tries.push({ call: effect.call, touched: false })
    const mine = tries.findLast(({ call }) => call === effect.call)
    if (mine && effect.phase === "touched") mine.touched = true
  }
  return found
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
