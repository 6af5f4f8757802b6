import { readFile } from "node:fs/promises"
import { dollars, duration } from "../../../client/index.ts"
import { plainErrors, schemaProblems } from "../../../core/shared/text/schema-text.ts"
import { failureReason, jsonPosition } from "../../../core/shared/text/system-errors.ts"
import type { Tolerance } from "../file/eval-file.ts"
import { EvalFileFault } from "../file/read-eval-file.ts"
import { EvalReport, type EvalResult } from "./report.ts"

/** The comparison of an evaluation with a previous one. */
export interface Comparison {
  /** Regressions, as sentences: a case that passed, or a figure beyond its tolerance. */
  readonly falls: readonly string[]
  /** New cases that fail, which are neither regressions nor successes. */
  readonly newFailures: readonly string[]
  /** Cases that still fail. */
  readonly known: readonly string[]
  /** Cases that failed before and pass now. */
  readonly mended: readonly string[]
  /** Cases that are missing now; empty if the previous evaluation was interrupted. */
  readonly gone: readonly string[]
}

type Figure = keyof Tolerance
const figures: Readonly<Record<Figure, { of(result: EvalResult): number | null; told(value: number): string }>> = {
  cost: { of: ({ costUsd }) => costUsd, told: dollars },
  tokens: { of: ({ tokens }) => tokens, told: (value) => `${value.toLocaleString("en")} tokens` },
  latency: { of: ({ p50Ms }) => p50Ms, told: duration },
  latencyWithoutModel: { of: ({ p50MsWithoutModel }) => p50MsWithoutModel, told: duration },
}
const words: Readonly<Record<Figure, string>> = {
  ...{ cost: "cost", tokens: "tokens", latency: "p50" },
  latencyWithoutModel: "p50 without models",
}

/** Cases are matched by name, agent and model, so a renamed case is a new one. */
export function compareReports(now: EvalReport, before: EvalReport, tolerance: Tolerance): Comparison {
  const earlier = new Map(before.results.map((result) => [resultName(result), result]))
  const names = new Set(now.results.map(resultName))
  const failing = now.results.filter(({ passed }) => !passed)
  const known = failing.filter((result) => earlier.get(resultName(result))?.passed === false)
  const fallen = failing.filter((result) => earlier.get(resultName(result))?.passed)
  const beyond = now.results.flatMap((result) => {
    const then = earlier.get(resultName(result))
    return then && isMeasured(then) && isMeasured(result) ? beyondTolerance(result, then, tolerance) : []
  })
  return {
    falls: [...fallen.map((result) => `${resultName(result)}: it passed before`), ...beyond],
    newFailures: failing.filter((result) => !earlier.has(resultName(result))).map(resultName),
    known: known.map(resultName),
    mended: now.results
      .filter((result) => result.passed && earlier.get(resultName(result))?.passed === false)
      .map(resultName),
    gone: now.stopped !== null ? [] : [...earlier.keys()].filter((name) => !names.has(name)),
  }
}

/** A case that could not run has no figures, and compared with it everything would be a regression. */
const isMeasured = ({ runs }: EvalResult): boolean => runs.some(({ error }) => error === undefined)

/** A cost that became unknown cannot be compared, which is reported as a regression. */
function beyondTolerance(now: EvalResult, before: EvalResult, tolerance: Tolerance): string[] {
  return (Object.entries(tolerance) as [Figure, number | undefined][]).flatMap(([figure, share]) => {
    const { of, told } = figures[figure]
    const [value, then] = [of(now), of(before)]
    if (share === undefined || then === null) return []
    if (value === null) return [`${resultName(now)}: ${words[figure]} is no longer known, and was ${told(then)}`]
    if (value <= then * (1 + share)) return []
    const more = then === 0 ? "" : ` (+${Math.round((value / then - 1) * 100)} %)`
    return [
      `${resultName(now)}: ${words[figure]} ${told(value)}${more}, and was ${told(then)}; ${Math.round(share * 100)} % more is tolerated`,
    ]
  })
}

export const resultName = ({ case: name, agent, model }: Pick<EvalResult, "case" | "agent" | "model">): string =>
  `${name} · ${agent} · ${model}`

/** Reads the report of a previous run, written with `--save` or `--json`. */
export async function readReport(path: string): Promise<EvalReport> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new EvalFileFault(`${path} cannot be read: ${failureReason(error)}.`)
  })
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new EvalFileFault(`${path} is not valid JSON${jsonPosition(error)}.`)
  }
  const { data, error } = EvalReport.safeParse(json, plainErrors)
  if (data) return data
  const problem = schemaProblems(error, "the file")
  throw new EvalFileFault(
    `${path} is not a report of pawl eval: ${problem}. To write one, run: pawl eval FILE --save ${path}`,
  )
}
