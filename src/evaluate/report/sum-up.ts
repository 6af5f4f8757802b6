import { addSpent, NOTHING_SPENT } from "../happened.ts"
import type { EvalReport, EvalResult, EvalRun } from "./report.ts"

interface Named {
  readonly case: string
  readonly agent: string
  readonly model: string
  /** Which share of the runs has to pass. */
  readonly passRate: number
}

/** One line of the table, of at least one run. */
export function sumUpRuns({ passRate, ...named }: Named, runs: readonly EvalRun[]): EvalResult {
  const passedRuns = runs.filter(({ passed }) => passed).length
  const spent = runs.map((run) => run.spent).reduce(addSpent, NOTHING_SPENT)
  const judging = judgingOf(runs)
  // What could not be run to its end says nothing about how long one takes.
  const ended = runs.filter(({ error }) => error === undefined)
  const timed = ended.length > 0 ? ended : runs
  return {
    ...named,
    // To the nearest hundredth: of three with 0.67 two are enough.
    passed: passedRuns / runs.length > passRate - 0.005,
    passedRuns,
    costUsd: each(spent.costUsd, runs),
    judgeCostUsd: each(judging, runs),
    tokens: Math.round((spent.inputTokens + spent.outputTokens) / runs.length),
    p50Ms: middle(timed.map((run) => run.spent.ms)),
    p50MsWithoutModel: middle(timed.map((run) => run.spent.ms - run.spent.modelMs)),
    runs: [...runs],
  }
}

type Told = Pick<EvalReport, "file" | "startedAt" | "ms" | "stopped">

export function sumUp(told: Told, results: readonly EvalResult[]): EvalReport {
  const passed = results.filter((result) => result.passed).length
  const runs = results.flatMap((result) => result.runs)
  return {
    version: 1,
    ...told,
    ...{ passed, failed: results.length - passed },
    costUsd: runs.map((run) => run.spent).reduce(addSpent, NOTHING_SPENT).costUsd,
    judgeCostUsd: judgingOf(runs),
    results: [...results],
  }
}

const judgingOf = (runs: readonly EvalRun[]): number | null =>
  runs.flatMap(({ judged }) => judged.map(({ spent }) => spent)).reduce(addSpent, NOTHING_SPENT).costUsd

const each = (sum: number | null, runs: readonly unknown[]): number | null => (sum === null ? null : sum / runs.length)

/** The one in the middle; of an even number the mean of the two there. */
function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return Math.round(((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2)
}
