import type { Run } from "./page-runs.ts"

/** What stands on one line, and whether there is room above it as between paragraphs. */
export interface Line {
  readonly text: string
  readonly size: number
  readonly base: number
  readonly begins: boolean
}

const SAME_LINE = 0.35
/** In usual distances of two lines. */
const PARAGRAPH = 1.45

/** Runs in their order, as lines. */
export function linesOf(runs: readonly Run[]): Line[] {
  const joined: { parts: string[]; run: Run; last: Run }[] = []
  for (const run of runs) {
    const line = joined.at(-1)
    const { level, base, size } = line?.last ?? run
    if (line && level && run.level && Math.abs(run.base - base) <= SAME_LINE * size && run.left >= line.last.left) {
      line.parts.push(run.text)
      line.last = run
    } else joined.push({ parts: [run.text], run, last: run })
  }
  const usual = usualStep(joined.map(({ run }) => run))
  return joined.map(({ parts, run }, i) => {
    const before = run.level ? joined[i - 1]?.run : undefined
    const step = before ? before.base - run.base : 0
    const begins = before !== undefined && (step < 0 || step > PARAGRAPH * Math.max(usual, run.size * 0.8))
    return { text: parts.join(" "), size: run.size, base: run.base, begins }
  })
}

function usualStep(runs: readonly Run[]): number {
  const steps = runs
    .slice(1)
    .map((run, i) => runs[i]!.base - run.base)
    .filter((step) => step > 0)
    .sort((a, b) => a - b)
  return steps[Math.floor(steps.length / 2)] ?? 0
}
