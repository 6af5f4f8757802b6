import { type Baseline, differencesOf } from "./compare-lives.ts"
import type { CrashBoundary } from "./life-files.ts"
import type { Played } from "./play-lives.ts"
import type { CrashScenario } from "./scenario.ts"

/** A place at which a scenario is killed. */
export interface ScenarioBoundary extends CrashBoundary {
  /** The events of the write, or what the tool does there. */
  readonly what: string
}

/** How it went on from there. */
export interface CrashRow extends ScenarioBoundary {
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

/** For programs. */
export function toReport({ agent, say }: CrashScenario, rows: readonly CrashRow[]) {
  const differ = rows.filter(({ differences }) => differences.length > 0).length
  return { agent: agent ?? null, say, killed: rows.length, differ, boundaries: rows }
}

/** Lines for a person, in the order of the boundaries, each as soon as all before it are known. */
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
    const same = !reached ? "not reached" : wasInDoubt ? "same; a write was in doubt, and asked about" : "same"
    const verdict = differences.length > 0 ? `DIFFERS: ${differences.join(" ")}` : same
    return `${String(at).padStart(4)} ${when.padEnd(6)}  ${what.padEnd(this.#width)}  ${verdict}`
  }
}

export function toEnd(rows: readonly CrashRow[]): string {
  const differing = rows.filter(({ differences }) => differences.length > 0).length
  const places = rows.length === 1 ? "1 boundary" : `${rows.length} boundaries`
  return `Killed at ${places}: ${differing === 0 ? "each time as in the whole run." : `${differing} differ.`}`
}
