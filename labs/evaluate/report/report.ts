import { z } from "zod"
import { JsonObject } from "../../../core/protocol/schema.ts"
import { NOTHING_SPENT, addSpent } from "../happened.ts"

/** The results of an evaluation, as printed with `--json`, saved and compared. */

const SpentOfRun = z.object({
  costUsd: z.number().nullable(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  modelCalls: z.number(),
  toolCalls: z.number(),
  ms: z.number(),
  modelMs: z.number(),
})
const Call = z.object({ tool: z.string(), arguments: JsonObject, status: z.string(), result: z.string().optional() })

const EvalRun = z.object({
  passed: z.boolean(),
  /** Why it could not be completed. */
  error: z.string().optional(),
  unmet: z.array(z.object({ expectation: z.string(), problem: z.string() })),
  answers: z.array(
    z.object({
      text: z.string(),
      status: z.string(),
      error: z.string().optional(),
      calls: z.array(Call),
      proposals: z.array(Call),
    }),
  ),
  spent: SpentOfRun,
  judged: z.array(
    z.object({ rubric: z.string(), model: z.string(), pass: z.boolean(), reason: z.string(), spent: SpentOfRun }),
  ),
})
export type EvalRun = z.infer<typeof EvalRun>

/** One line of the table. Costs and tokens are averages per run, times are medians. */
const EvalResult = z.object({
  case: z.string(),
  agent: z.string(),
  model: z.string(),
  passed: z.boolean(),
  passedRuns: z.number().int(),
  costUsd: z.number().nullable(),
  judgeCostUsd: z.number().nullable(),
  tokens: z.number(),
  p50Ms: z.number(),
  p50MsWithoutModel: z.number(),
  runs: z.array(EvalRun),
})
export type EvalResult = z.infer<typeof EvalResult>

export const EvalReport = z.object({
  version: z.literal(1),
  file: z.string(),
  startedAt: z.string(),
  ms: z.number(),
  /** Why the results are incomplete; null if all cases ran. */
  stopped: z.string().nullable(),
  passed: z.number().int(),
  failed: z.number().int(),
  costUsd: z.number().nullable(),
  judgeCostUsd: z.number().nullable(),
  results: z.array(EvalResult),
})
export type EvalReport = z.infer<typeof EvalReport>

interface Named {
  readonly case: string
  readonly agent: string
  readonly model: string
  /** The share of the runs that must pass. */
  readonly passRate: number
}

/** Summarizes the runs of a case. There is at least one. */
export function sumUpRuns({ passRate, ...named }: Named, runs: readonly EvalRun[]): EvalResult {
  const passedRuns = runs.filter(({ passed }) => passed).length
  const spent = runs.map((run) => run.spent).reduce(addSpent, NOTHING_SPENT)
  const judging = judgingOf(runs)
  // The duration of an incomplete run means nothing.
  const ended = runs.filter(({ error }) => error === undefined)
  const timed = ended.length > 0 ? ended : runs
  return {
    ...named,
    // Rounded to hundredths: two of three are enough for 0.67.
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

/** The median. */
function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return Math.round(((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2)
}
