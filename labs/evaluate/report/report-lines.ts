import { count, dollars, duration } from "../../../client/index.ts"
import { escapeHidden } from "../../../core/shared/text/hidden-characters.ts"
import type { Comparison } from "./compare.ts"
import type { EvalReport, EvalResult, EvalRun } from "./report.ts"

const HEAD = ["", "case", "agent", "model", "runs", "cost", "tokens", "p50", "without models"]
/** Columns with numbers, aligned to the right. */
const RIGHT = new Set(["runs", "cost", "tokens", "p50", "without models"])
const MAX_NAME = 60

/** A report for people: the table, the problems, and a summary line. */
export function reportLines(report: EvalReport): string[] {
  const rows = [HEAD, ...report.results.map((result) => cells(result).map(escapeHidden))]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, RIGHT.has(HEAD[column] ?? "")))
      .join("  ")
      .trimEnd(),
  )
  return [...lines, "", ...report.results.flatMap(failureLines).map(escapeHidden), sumLine(report)]
}

function cells(result: EvalResult): string[] {
  const { passed, agent, model, passedRuns, runs, costUsd, tokens, p50Ms, p50MsWithoutModel } = result
  return [
    ...[passed ? "✓" : "✗", shortName(result.case), agent, model, `${passedRuns}/${runs.length}`],
    ...[costUsd === null ? "–" : dollars(costUsd), tokens.toLocaleString("en")],
    ...[duration(p50Ms), duration(p50MsWithoutModel)],
  ]
}

const shortName = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1).toWellFormed()}…` : name

const pad = (text: string, width: number, right: boolean): string => (right ? text.padStart(width) : text.padEnd(width))

function failureLines(result: EvalResult): string[] {
  const { case: name, agent, model, runs } = result
  const failed = runs.flatMap((run, index) => (run.passed ? [] : [{ run, index }]))
  if (failed.length === 0) return []
  const which = (index: number) => (runs.length === 1 ? "" : `, run ${index + 1}`)
  return failed.flatMap(({ run, index }) => [
    `✗ ${name} · ${agent} · ${model}${which(index)}`,
    ...runProblems(run).map((problem) => `    ${problem}`),
    "",
  ])
}

/** The problems of a run, one line each. */
export const runProblems = ({ error, unmet }: EvalRun): string[] => [
  ...(error === undefined ? [] : [`it could not be run: ${error}`]),
  ...unmet.map(({ expectation, problem }) => `${expectation}: ${problem}`),
]

function sumLine({ results, passed, failed, costUsd, judgeCostUsd, ms, stopped }: EvalReport): string {
  const hasJudges = results.some(({ runs }) => runs.some(({ judged }) => judged.length > 0))
  const parts = [
    `${passed} of ${count(passed + failed, "case")} passed`,
    costUsd === null ? "what it cost is not known" : dollars(costUsd),
    ...(hasJudges ? [judgeCostUsd === null ? "judges at an unknown price" : `judges ${dollars(judgeCostUsd)}`] : []),
    duration(ms),
  ]
  return `${parts.join(", ")}.${stopped === null ? "" : ` Not all of it was run: ${stopped}.`}`
}

/** The lines about the comparison with a previous report. */
export function comparisonLines({ falls, newFailures, known, mended, gone }: Comparison): string[] {
  const told = (what: string, names: readonly string[]) => names.map((name) => `${what} ${name}`)
  return [
    ...told("fell:", falls),
    ...told("fails, and is new:", newFailures),
    ...told("fails as before:", known),
    ...told("passes now:", mended),
    ...told("is gone:", gone),
    ...(falls.length === 0 ? ["Nothing has fallen."] : []),
  ].map(escapeHidden)
}
