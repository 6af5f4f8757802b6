import { setMaxListeners } from "node:events"
import type { EvalFile } from "./file/eval-file.ts"
import { addSpent } from "./happened.ts"
import { type EvalCell, judgesOf, planCells, type PlanChoices } from "./plan.ts"
import type { EvalReport, EvalResult, EvalRun } from "./report/report.ts"
import { sumUp, sumUpRuns } from "./report/sum-up.ts"
import type { OpenPlace } from "./run/place.ts"
import { placeNeeds } from "./run/case-run.ts"
import { refuseUnknown } from "./run/refuse-unknown.ts"
import { type CaseOutcome, runCase } from "./run/run-case.ts"
import { spentIn } from "./run/spent-in.ts"

export interface Evaluating extends PlanChoices {
  /** What the file is called in the report, and where its paths begin. */
  readonly path: string
  readonly base: string
  readonly judge: string | undefined
  readonly concurrency: number | undefined
  /** Begins nothing more after the first run that fails. */
  readonly failFast: boolean
  /** Begins nothing more when so many dollars are spent, judges included. */
  readonly maxCostUsd: number | undefined
  readonly open: OpenPlace
  /** Stops what is at work; what is done by then is reported. */
  readonly signal: AbortSignal
  readonly now: () => number
  /** Told how many runs there will be, and of each when it has ended. */
  onBegin(all: number): void
  onRun(done: DoneRun): void
}

/** How far it is. */
export interface DoneRun {
  readonly done: number
  readonly all: number
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly run: EvalRun
}

interface Work {
  readonly cell: EvalCell
  readonly judges: readonly (string | undefined)[]
  readonly runs: EvalRun[]
  named: { agent: string; model: string }
}

/** Runs every case of a file with every agent and model, a bounded number at a time, and says how each went. */
export async function evaluate(file: EvalFile, evaluating: Evaluating): Promise<EvalReport> {
  const { path, signal, now, failFast, maxCostUsd = Infinity } = evaluating
  const startedAt = now()
  const works = planCells(file, evaluating).map((cell): Work => {
    const named = { agent: cell.agent ?? "?", model: cell.model ?? "?" }
    return { cell, judges: judgesOf(cell, evaluating.judge ?? file.judge), runs: [], named }
  })
  await refuseUnknown(
    works.map(({ cell }) => cell),
    evaluating.open,
  )
  const queue = works.flatMap((work) => Array.from({ length: work.cell.repeat }, () => work))
  const all = queue.length
  let [done, costUsd] = [0, 0]
  let stopped: string | null = null
  setMaxListeners(0, signal) // each run listens, however many are at work
  evaluating.onBegin(all)

  async function workOff(): Promise<void> {
    for (let work = queue.shift(); work && stopped === null && !signal.aborted; work = queue.shift()) {
      const run = await runOnce(file, work, evaluating).catch((error: unknown) => {
        stopped = "it broke" // nobody begins another one; what broke is thrown below
        throw error
      })
      if (!run) return
      work.runs.push(run)
      const cost = costOf(run)
      costUsd += cost ?? 0
      if (failFast && !run.passed) stopped ??= "a run has failed"
      if (costUsd >= maxCostUsd) stopped ??= `$${maxCostUsd} is spent`
      if (maxCostUsd < Infinity && cost === null) stopped ??= "a cost is not known, which may not pass a bound"
      evaluating.onRun({ done: ++done, all, case: work.cell.evalCase.name, ...work.named, run })
    }
  }

  const workers = Math.min(evaluating.concurrency ?? file.concurrency, all)
  const ended = await Promise.allSettled(Array.from({ length: workers }, workOff))
  // Told when all others have ended: what they work in is removed by them.
  const broken = ended.find((each) => each.status === "rejected")
  if (broken) throw broken.reason
  const results = works.flatMap(({ cell, runs, named }): EvalResult[] => {
    const { evalCase, passRate } = cell
    return runs.length === 0 ? [] : [sumUpRuns({ case: evalCase.name, ...named, passRate }, runs)]
  })
  const told = { file: path, startedAt: new Date(startedAt).toISOString(), ms: now() - startedAt }
  return sumUp({ ...told, stopped: done === all ? null : (stopped ?? "it was interrupted") }, results)
}

/**
 * Undefined where it was stopped: a run that was broken off says nothing about its case. A place that cannot be opened is no
 * case's fault, and ends it all.
 */
async function runOnce(file: EvalFile, work: Work, { base, open, signal }: Evaluating): Promise<EvalRun | undefined> {
  const { evalCase, agent, model, isScripted } = work.cell
  const given = { mode: evalCase.mode ?? file.mode, settings: evalCase.settings ?? file.settings }
  const run = { evalCase, agent, model, isScripted, judges: work.judges, base, ...given }
  await using place = await open(placeNeeds(run))
  try {
    const outcome = await runCase(run, place, signal)
    work.named = { agent: outcome.agent, model: work.cell.model ?? outcome.model ?? "?" }
    return toRun(outcome)
  } catch (error) {
    if (signal.aborted) return undefined
    const problem = error instanceof Error ? error.message : String(error)
    const spent = await spentIn(place.client)
    return { passed: false, error: problem, unmet: [], answers: [], spent, judged: [] }
  }
}

/** Of the run and its judges; null where some of it is not known. */
const costOf = ({ spent, judged }: EvalRun): number | null =>
  judged.reduce((sum, each) => addSpent(sum, each.spent), spent).costUsd

const toRun = ({ answers, spent, judged, unmet }: CaseOutcome): EvalRun => ({
  passed: unmet.length === 0,
  unmet: [...unmet],
  answers: answers.map((answer) => ({ ...answer, calls: [...answer.calls], proposals: [...answer.proposals] })),
  spent,
  judged: [...judged],
})
