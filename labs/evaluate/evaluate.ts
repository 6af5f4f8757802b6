import { setMaxListeners } from "node:events"
import { ClientError } from "../../client/index.ts"
import type { EvalCase, EvalFile } from "./file/eval-file.ts"
import { EvalFileFault } from "./file/read-eval-file.ts"
import { addSpent } from "./happened.ts"
import { type EvalReport, type EvalResult, type EvalRun, sumUp, sumUpRuns } from "./report/report.ts"
import { type CaseRun, type OpenPlace, SCRIPTED, placeNeeds } from "./run/place.ts"
import { spentIn } from "./run/record.ts"
import { type CaseOutcome, runCase } from "./run/run-case.ts"

export interface Evaluating extends PlanChoices {
  /** The name of the file in the report, and the base of its paths. */
  readonly path: string
  readonly base: string
  readonly judge: string | undefined
  readonly concurrency: number | undefined
  /** Starts no further run after the first that fails. */
  readonly failFast: boolean
  /** Starts no further run when this many dollars are spent, including judges. */
  readonly maxCostUsd: number | undefined
  readonly open: OpenPlace
  /** Stops active runs. The report contains what was finished. */
  readonly signal: AbortSignal
  readonly now: () => number
  /** Receives the number of runs, and each run when it has ended. */
  onBegin(all: number): void
  onRun(done: DoneRun): void
}

/** The progress of the evaluation. */
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

/** Runs every case of a file with every agent and model, with bounded concurrency, and reports the results. */
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
  setMaxListeners(0, signal) // each active run adds a listener
  evaluating.onBegin(all)

  async function workOff(): Promise<void> {
    for (let work = queue.shift(); work && stopped === null && !signal.aborted; work = queue.shift()) {
      const run = await runOnce(file, work, evaluating).catch((error: unknown) => {
        stopped = "it broke" // no further run starts; the error is thrown below
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
  // Thrown after all others have ended, because they remove their folders.
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
 * Undefined if it was stopped: an interrupted run proves nothing about its case. An environment that cannot be opened
 * ends the evaluation.
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

/** The cost of the run and its judges; null if part of it is unknown. */
const costOf = ({ spent, judged }: EvalRun): number | null =>
  judged.reduce((sum, each) => addSpent(sum, each.spent), spent).costUsd

const toRun = ({ answers, spent, judged, unmet }: CaseOutcome): EvalRun => ({
  passed: unmet.length === 0,
  unmet: [...unmet],
  answers: answers.map((answer) => ({ ...answer, calls: [...answer.calls], proposals: [...answer.proposals] })),
  spent,
  judged: [...judged],
})

/** A case with one agent and one model, which is run one or several times. */
interface EvalCell {
  readonly evalCase: EvalCase
  /** Undefined: the first agent. */
  readonly agent: string | undefined
  /** Undefined: the default model of conversations. */
  readonly model: string | undefined
  readonly isScripted: boolean
  readonly repeat: number
  readonly passRate: number
}

interface PlanChoices {
  /** Only cases whose names have one of these words. */
  readonly filter: readonly string[]
  /** These models instead of those of the file. Scripts are not used. */
  readonly models: readonly string[]
  readonly repeat: number | undefined
}

/** Every case with each of its agents and models, in the order of the file. */
export function planCells(file: EvalFile, { filter, models, repeat }: PlanChoices): EvalCell[] {
  const isWanted = ({ name }: EvalCase) =>
    filter.length === 0 || filter.some((words) => name.toLowerCase().includes(words.toLowerCase()))
  return file.cases.filter(isWanted).flatMap((evalCase) => {
    const isScripted = evalCase.script !== undefined && models.length === 0
    const agents = evalCase.agent ?? file.agent ?? [undefined]
    const chosen = models.length > 0 ? models : (evalCase.model ?? file.model ?? [undefined])
    const common = {
      ...{ evalCase, isScripted, passRate: evalCase.passRate ?? file.passRate ?? 1 },
      repeat: repeat ?? evalCase.repeat ?? file.repeat ?? 1,
    }
    return agents.flatMap((agent) =>
      (isScripted ? [SCRIPTED] : chosen).map((model): EvalCell => ({ ...common, agent, model })),
    )
  })
}

/** The judges of a cell's checks. Refused before the first request if none is configured. */
export function judgesOf(
  cell: Pick<EvalCell, "evalCase" | "isScripted">,
  named: string | undefined,
): (string | undefined)[] {
  const { evalCase, isScripted } = cell
  return (evalCase.expect.judge ?? []).map(({ model, script }, index) => {
    if (isScripted && script) return undefined
    const judge = model ?? named
    if (judge !== undefined) return judge
    throw new EvalFileFault(
      `case "${evalCase.name}", expect.judge[${index}]: no judge is set. Set it with --judge MODEL, with judge in the file, or with model here.`,
    )
  })
}

type Asked = Pick<CaseRun, "agent" | "model" | "isScripted">

/**
 * Refuses unknown agents and models before the first request. Otherwise a misspelt name would fail every case, after
 * others were paid for, and seem to be a regression.
 */
async function refuseUnknown(cells: readonly Asked[], open: OpenPlace): Promise<void> {
  const asked = cells.filter(({ isScripted }) => !isScripted)
  if (asked.length === 0) return
  await using place = await open({
    hasFolder: asked.some(({ agent }) => agent === "files"),
    script: undefined,
    verdicts: [],
  })
  const seen = new Set<string>()
  for (const { agent, model } of asked) {
    const pair = JSON.stringify([agent, model])
    if (seen.has(pair)) continue
    seen.add(pair)
    try {
      await place.client.createConversation({ body: { ...(agent ? { agent } : {}), ...(model ? { model } : {}) } })
    } catch (error) {
      if (error instanceof ClientError && error.status === 400) throw new EvalFileFault(error.message)
      throw error
    }
  }
}
