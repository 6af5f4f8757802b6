import { crashtestText } from "../../apps/strings/tests.ts"
import { type CrashBoundary, type LifeOutcome, type NotedEffect, ONCE, OWN_WRITE } from "./life-files.ts"
import type { Played } from "./play-lives.ts"
import type { CrashScenario } from "./scenario.ts"

/** The outcome of an uninterrupted run, and the parts of it that differ between two such runs. */
export interface Baseline {
  readonly played: Played
  readonly outcome: LifeOutcome
  readonly varies: ReadonlySet<number>
}

export function toBaseline(one: Played, other: Played): Baseline | string {
  const [first, second] = [one.outcome, other.outcome]
  if (!first || !second) return one.failure ?? other.failure ?? crashtestText.didNotEnd
  const [problem] = [...one.problems, ...other.problems]
  if (problem !== undefined) return problem
  if (first.shortfall !== undefined) return first.shortfall
  if (first.transcript.length !== second.transcript.length) return crashtestText.notRepeatable
  const varies = first.transcript.flatMap(({ text }, at) => (text === second.transcript[at]?.text ? [] : [at]))
  return { played: one, outcome: first, varies: new Set(varies) }
}

/** Returns the differences from the uninterrupted run as sentences; empty if there are none. */
export function differencesOf(
  baseline: Baseline,
  played: Played,
  { mayRunAgain }: Pick<CrashScenario, "mayRunAgain">,
): string[] {
  const { outcome, failure, problems, effects } = played
  if (!outcome) return [crashtestText.newProcessFailed(failure)]
  return [
    ...problems.slice(0, 1).map((problem) => crashtestText.brokenHistory(problem)),
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
    // If a tool's effects are visible, an attempt that was interrupted before any effect does not count.
    const isSeen = known.some(({ touched }) => touched.length > 0)
    const times = isSeen ? tries.filter(({ touched }) => touched.length > 0).length : tries.length
    if (times <= known.length) return []
    const advice = whatToDeclare(afterCrash, new Set(tries.flatMap(({ touched }) => touched)))
    return [crashtestText.ranTooOften(tool, times, known.length, advice)]
  })
}

function whatToDeclare(afterCrash: string, effects: ReadonlySet<string>): string {
  const others = [...effects].filter((what) => !what.endsWith(ONCE))
  if (afterCrash === "run-again") {
    if (others.length < effects.size) return crashtestText.besidesApplyOnce(others.join(", "))
    return effects.has(OWN_WRITE) ? crashtestText.writesWithoutApplyOnce : crashtestText.declaresRunAgain
  }
  if (afterCrash === "ask-target") return crashtestText.declaresAskTarget
  return crashtestText.declaresOther(afterCrash)
}

interface TriedEffect {
  readonly effect: NotedEffect
  /** Each attempt, and the names of its effects. */
  readonly tries: { readonly call: string; touched: string[] }[]
}

/** Counts the attempts of each call, by its input. */
function triesOf(effects: readonly NotedEffect[]): Map<string, TriedEffect> {
  const found = new Map<string, TriedEffect>()
  for (const effect of effects) {
    const key = `${effect.tool} ${effect.input}`
    const { tries } = found.get(key) ?? found.set(key, { effect, tries: [] }).get(key)!
    if (effect.phase === "begun") tries.push({ call: effect.call, touched: [] })
    const mine = tries.findLast(({ call }) => call === effect.call)
    const { phase, what = "" } = effect
    if (phase === "touched") mine?.touched.push(what)
    if (phase === "unchanged") mine?.touched.splice(mine.touched.lastIndexOf(what), 1)
  }
  return found
}

function transcriptDiffers({ outcome: whole, varies }: Baseline, { transcript }: LifeOutcome): string[] {
  const length = Math.max(whole.transcript.length, transcript.length)
  for (let at = 0; at < length; at++) {
    const [then, now] = [whole.transcript[at], transcript[at]]
    if (now?.wasInDoubt) continue // a person decided about it, so its text may differ
    const isSame = then?.who === now?.who && (varies.has(at) || then?.text === now?.text)
    if (isSame) continue
    const found = now ? crashtestText.quoted(now.who, short(now.text)) : crashtestText.nothing
    const sought = then ? crashtestText.quoted(then.who, short(then.text)) : crashtestText.nothing
    return [crashtestText.transcriptDiffers(at + 1, found, sought, advice(now?.who))]
  }
  return []
}

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

function advice(who: string | undefined): string {
  if (who === "result interrupted") return crashtestText.declareRunAgain
  return ""
}

/** A position at which a scenario is killed. */
interface ScenarioBoundary extends CrashBoundary {
  /** The event types of the write, or the tool's effect. */
  readonly what: string
}

/** The outcome of the continued run. */
interface CrashRow extends ScenarioBoundary {
  readonly reached: boolean
  readonly wasInDoubt: boolean
  readonly differences: readonly string[]
}

export const toBoundaries = (writes: readonly string[]): ScenarioBoundary[] =>
  writes.flatMap((what, index) => (["before", "after"] as const).map((when) => ({ at: index + 1, when, what })))

export function toCrashRow(
  baseline: Baseline,
  boundary: ScenarioBoundary,
  played: Played,
  scenario: CrashScenario,
): CrashRow {
  const wasInDoubt = played.outcome?.transcript.some((line) => line.wasInDoubt) ?? false
  return { ...boundary, reached: played.died, wasInDoubt, differences: differencesOf(baseline, played, scenario) }
}

/** The report for programs. */
export function toReport({ agent, say }: CrashScenario, rows: readonly CrashRow[]) {
  const differ = rows.filter(({ differences }) => differences.length > 0).length
  return { agent: agent ?? null, say, killed: rows.length, differ, boundaries: rows }
}

/** Prints lines in the order of the positions, each once all previous ones are known. */
export class CrashTable {
  readonly #width: number
  readonly #rows: (CrashRow | undefined)[] = []
  #told = 0

  constructor(boundaries: readonly ScenarioBoundary[]) {
    this.#width = Math.max(0, ...boundaries.map(({ what }) => what.length))
  }

  add(index: number, row: CrashRow): string[] {
    this.#rows[index] = row
    const lines: string[] = []
    for (let next = this.#rows[this.#told]; next; next = this.#rows[++this.#told]) lines.push(this.#line(next))
    return lines
  }

  #line({ at, when, what, reached, wasInDoubt, differences }: CrashRow): string {
    const same = !reached ? crashtestText.notReached : wasInDoubt ? crashtestText.sameWithDoubt : crashtestText.same
    const verdict = differences.length > 0 ? crashtestText.differs(differences.join(" ")) : same
    return `${String(at).padStart(4)} ${when.padEnd(6)}  ${what.padEnd(this.#width)}  ${verdict}`
  }
}

export function toEnd({ played }: Baseline, rows: readonly CrashRow[]): string {
  const differing = rows.filter(({ differences }) => differences.length > 0).length
  return [crashtestText.summary(rows.length, differing), ...needlesslyInDoubt(played.effects)].join("\n")
}

/** Tools that ask a person after a crash, although a second run would have no effect. */
function needlesslyInDoubt(effects: readonly NotedEffect[]): string[] {
  const tried = [...triesOf(effects).values()].filter(({ effect }) => effect.effect === "write")
  const byTool = Map.groupBy(tried, ({ effect }) => effect.tool)
  return [...byTool].flatMap(([tool, calls]) => {
    const all = calls.flatMap(({ tries }) => tries.flatMap(({ touched }) => touched))
    const isOnce = all.length > 0 && all.every((what) => what.endsWith(ONCE))
    return isOnce && calls[0]?.effect.afterCrash === "in-doubt" ? [crashtestText.mayRunAgainByApplyOnce(tool)] : []
  })
}
