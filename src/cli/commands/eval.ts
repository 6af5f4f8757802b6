import { dirname, resolve } from "node:path"
import { z } from "zod"
import { systemClock } from "../../agent/clock.ts"
import { type DoneRun, evaluate } from "../../evaluate/evaluate.ts"
import { EvalFile } from "../../evaluate/file/eval-file.ts"
import { EvalFileFault, readEvalFile } from "../../evaluate/file/read-eval-file.ts"
import { compareReports, type Comparison } from "../../evaluate/report/compare.ts"
import { readReport } from "../../evaluate/report/read-report.ts"
import type { EvalReport } from "../../evaluate/report/report.ts"
import { comparisonLines, runProblems, reportLines } from "../../evaluate/report/report-lines.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import { scrubSecrets } from "../../models/providers/errors/scrub-secrets.ts"
import { openThrowaways } from "../open/throwaway.ts"
import { openOutput } from "./exec-output.ts"
import { readEvalFlags } from "./eval-flags.ts"
import { CommandError } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { onStop } from "../process/on-stop.ts"
import { Progress } from "../process/progress.ts"
import { readConfig } from "../settings/config.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl eval FILE [flags]

Runs the cases of a file against agents and models and says which are as they are expected to be: answers, calls,
proposals, rows, files, cost and time. Each run has a Pawl of its own, with nothing in it, which is removed afterwards; your
data is not touched. Models and packs are those of your settings. docs/evaluations.md says what a file holds.

  --model NAME        ask this model, whatever the file says, and play no script; may be given several times
  --judge NAME        who judges, where a case does not say it
  --filter WORDS      only cases with these words in their names; may be given several times
  --repeat N          run each so many times
  --concurrency N     so many at a time (default: 4, or what the file says)
  --fail-fast         begin nothing more after the first failure
  --max-cost USD      begin nothing more when so much is spent
  --json              print the report as JSON instead of the table
  --save FILE         write that JSON to a file
  --baseline FILE     compare with the JSON of an earlier run; what failed there may fail
  --schema            print the JSON schema of such files, for editors that complete and check them, and do nothing else
  --tolerate F=N%     with it: cost, tokens, latency or latencyWithoutModel may be so much worse; what is not named, here or
                      in the file, is not compared

Exit codes: 0 all is as expected, 1 wrong usage, settings or file, 2 a case has failed or was not begun or, with --baseline,
something has fallen or is new and fails, 130 stopped with Ctrl-C; what was done until then is told all the same.
`

const FAILED = 2
const STOPPED = 130

export async function run(words: readonly string[]): Promise<number> {
  const { paths, baseline, save, json: asJson, schema, tolerated, ...choices } = readEvalFlags(words)
  if (schema) return print(JSON.stringify(z.toJSONSchema(EvalFile, { io: "input" }), null, 2))
  const [path] = paths
  if (path === undefined || paths.length > 1) throw new CommandError(`Name one file of cases.\n\n${help}`)
  const file = await refusing(() => readEvalFile(path))
  const before = baseline === undefined ? undefined : await refusing(() => readReport(baseline))
  await using saved = save === undefined ? undefined : await openOutput(save, "--save")
  const config = readConfig()
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const signal = onStop()
  await using places = openThrowaways(config, { log, recent })
  const progress = new Progress((text) => scrubSecrets(text, recent))
  const report = await refusing(() =>
    evaluate(file, {
      ...{ ...choices, path, base: dirname(resolve(path)), open: places.open, signal },
      now: () => systemClock.now(),
      onBegin: (all) => progress.show("evaluating", 0, all, ""),
      onRun: (done) => tell(progress, done),
    }),
  ).finally(() => progress.end())
  if (report.results.length === 0 && !signal.aborted)
    throw new CommandError(`No case of ${path} has ${choices.filter.join(" or ")} in its name.`)
  const comparison = before && compareReports(report, before, { ...file.tolerance, ...tolerated })
  const json = scrubSecrets(JSON.stringify({ ...report, ...(comparison ? { comparison } : {}) }, null, 2), recent)
  print(asJson ? json : told(report, comparison, recent))
  await saved?.write(`${json}\n`)
  if (signal.aborted) return STOPPED
  return isGood(report, comparison) ? 0 : FAILED
}

function print(text: string): 0 {
  process.stdout.write(`${text}\n`)
  return 0
}

/** What was not run is not as expected either: a bound on cost would otherwise pass for success. */
function isGood({ failed, stopped }: EvalReport, comparison: Comparison | undefined): boolean {
  const bad = comparison ? comparison.falls.length + comparison.newFailures.length : failed
  return bad === 0 && stopped === null
}

function told(report: EvalReport, comparison: Comparison | undefined, secrets: Iterable<string>): string {
  const lines = [...reportLines(report), ...(comparison ? ["", ...comparisonLines(comparison)] : [])]
  return scrubSecrets(lines.join("\n"), secrets)
}

/** A bar on a terminal, elsewhere a line for each run that has ended. */
function tell(progress: Progress, { done, all, case: name, agent, model, run }: DoneRun): void {
  const what = `${name} · ${agent} · ${model}`
  if (process.stderr.isTTY) return progress.show("evaluating", done, all, what)
  const why = run.passed ? "" : `: ${runProblems(run)[0] ?? ""}`
  progress.say(`${done}/${all} ${run.passed ? "passed" : "failed"} ${what}${why}`)
}

/** What a person can put right in a file is told in lines, without a stack. */
async function refusing<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof EvalFileFault) throw new CommandError(error.message)
    throw error
  }
}
