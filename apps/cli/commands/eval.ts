import { dirname, resolve } from "node:path"
import { z } from "zod"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { scrubSecrets } from "../../../core/models/providers/errors/scrub-secrets.ts"
import { systemClock } from "../../../core/shared/time/clock.ts"
import { type DoneRun, evaluate } from "../../../labs/evaluate/evaluate.ts"
import { EvalFile, Tolerance } from "../../../labs/evaluate/file/eval-file.ts"
import { EvalFileFault, readEvalFile } from "../../../labs/evaluate/file/read-eval-file.ts"
import { type Comparison, compareReports, readReport } from "../../../labs/evaluate/report/compare.ts"
import { comparisonLines, reportLines, runProblems } from "../../../labs/evaluate/report/report-lines.ts"
import type { EvalReport } from "../../../labs/evaluate/report/report.ts"
import { optionText } from "../../strings/exec.ts"
import { evalText } from "../../strings/tests.ts"
import { openTemporaryServers } from "../open/temporary-servers.ts"
import { CommandError, UsageError, onStop, readFlags } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { Progress } from "../process/progress.ts"
import { readConfig } from "../settings/config.ts"
import { warn } from "../settings/warn.ts"
import { openOutput } from "./exec-ending.ts"

export const help = evalText.help

const FAILED = 2
const STOPPED = 130

export async function run(words: readonly string[]): Promise<number> {
  const { paths, baseline, save, json: asJson, schema, tolerated, ...choices } = readEvalFlags(words)
  if (schema) return print(JSON.stringify(z.toJSONSchema(EvalFile, { io: "input" }), null, 2))
  const [path] = paths
  if (path === undefined || paths.length > 1) throw new UsageError(evalText.oneFile)
  const file = await refusing(() => readEvalFile(path))
  const before = baseline === undefined ? undefined : await refusing(() => readReport(baseline))
  await using saved = save === undefined ? undefined : await openOutput(save, "--save")
  const config = readConfig()
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const signal = onStop()
  await using places = openTemporaryServers(config, { log, recent })
  const progress = new Progress((text) => scrubSecrets(text, recent))
  const report = await refusing(() =>
    evaluate(file, {
      ...{ ...choices, path, base: dirname(resolve(path)), open: places.open, signal },
      now: () => systemClock.now(),
      onBegin: (all) => progress.show(evalText.evaluating, 0, all, ""),
      onRun: (done) => showProgress(progress, done),
    }),
  ).finally(() => progress.end())
  if (report.results.length === 0 && !signal.aborted)
    throw new CommandError(evalText.noCase(path, choices.filter.join(evalText.filterWord)))
  const comparison = before && compareReports(report, before, { ...file.tolerance, ...tolerated })
  const json = scrubSecrets(JSON.stringify({ ...report, ...(comparison ? { comparison } : {}) }, null, 2), recent)
  print(asJson ? json : reportText(report, comparison, recent))
  await saved?.write(`${json}\n`)
  if (signal.aborted) return STOPPED
  return isGood(report, comparison) ? 0 : FAILED
}

function print(text: string): 0 {
  process.stdout.write(`${text}\n`)
  return 0
}

/** A run that was skipped by the cost limit does not count as passed. */
function isGood({ failed, stopped }: EvalReport, comparison: Comparison | undefined): boolean {
  const bad = comparison ? comparison.falls.length + comparison.newFailures.length : failed
  return bad === 0 && stopped === null
}

function reportText(report: EvalReport, comparison: Comparison | undefined, secrets: Iterable<string>): string {
  const lines = [...reportLines(report), ...(comparison ? ["", ...comparisonLines(comparison)] : [])]
  return scrubSecrets(lines.join("\n"), secrets)
}

/** Shows a bar on a terminal, otherwise a line for each completed run. */
function showProgress(progress: Progress, { done, all, case: name, agent, model, run }: DoneRun): void {
  const what = evalText.run(name, agent, model)
  if (process.stderr.isTTY) return progress.show(evalText.evaluating, done, all, what)
  const why = run.passed ? "" : (runProblems(run)[0] ?? "")
  progress.report(evalText.ran(`${done}/${all}`, run.passed, what, why))
}

/** Reports errors in the user's files as lines without a stack. */
async function refusing<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof EvalFileFault) throw new CommandError(error.message)
    throw error
  }
}

const flags = {
  model: { type: "string", multiple: true },
  judge: { type: "string" },
  filter: { type: "string", multiple: true },
  repeat: { type: "string" },
  concurrency: { type: "string" },
  "fail-fast": { type: "boolean" },
  "max-cost": { type: "string" },
  json: { type: "boolean" },
  save: { type: "string" },
  baseline: { type: "string" },
  schema: { type: "boolean" },
  tolerate: { type: "string", multiple: true },
} as const

/** The options of the command. Invalid combinations are refused before a model is asked. */
function readEvalFlags(words: readonly string[]) {
  const { values, positionals } = readFlags(words, flags)
  const { baseline, save, judge, json = false, schema = false } = values
  const tolerated = toTolerance(values.tolerate ?? [])
  if (tolerated && baseline === undefined) throw new UsageError(evalText.tolerateAlone)
  return {
    ...{ paths: positionals, baseline, save, judge, json, schema, tolerated },
    models: values.model ?? [],
    filter: values.filter ?? [],
    repeat: wholeNumber("repeat", values.repeat),
    concurrency: wholeNumber("concurrency", values.concurrency),
    failFast: values["fail-fast"] ?? false,
    maxCostUsd: amount(values["max-cost"]),
  }
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(optionText.badCount(`--${flag}`, text))
  return Number(text)
}

function amount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const dollars = Number(text)
  if (text.trim() === "" || !(dollars > 0)) throw new UsageError(evalText.badCost(text))
  return dollars
}

function toTolerance(given: readonly string[]): Tolerance | undefined {
  if (given.length === 0) return undefined
  const pairs = given.map((word) => {
    const [name = "", share = ""] = word.split("=", 2)
    return [name, share] as const
  })
  const { data } = Tolerance.safeParse(Object.fromEntries(pairs))
  if (data) return data
  throw new UsageError(evalText.badTolerance)
}
