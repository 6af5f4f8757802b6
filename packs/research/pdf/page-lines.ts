import type { TextRun } from "./page-runs.ts"

/** The text of a line, and whether there is space above it as between paragraphs. */
export interface PageLine {
  readonly text: string
  readonly size: number
  readonly base: number
  readonly begins: boolean
}

const SAME_LINE = 0.35
/** In units of the usual line distance. */
const PARAGRAPH = 1.45

/** Combines runs into lines, in their order. */
export function linesOf(runs: readonly TextRun[]): PageLine[] {
  const joined: { parts: string[]; run: TextRun; last: TextRun }[] = []
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

function usualStep(runs: readonly TextRun[]): number {
  const steps = runs
    .slice(1)
    .map((run, i) => runs[i]!.base - run.base)
    .filter((step) => step > 0)
    .sort((a, b) => a - b)
  return steps[Math.floor(steps.length / 2)] ?? 0
}
