import { expect, test } from "vitest"
import { NOTHING_SPENT } from "../happened.ts"
import { compareReports } from "./compare.ts"
import { comparisonLines, reportLines } from "./report-lines.ts"
import { type EvalReport, type EvalRun, sumUp, sumUpRuns } from "./report.ts"

const run = (passed: boolean, spent: Partial<EvalRun["spent"]> = {}): EvalRun => ({
  passed,
  unmet: passed ? [] : [{ expectation: "answer", problem: "it says nothing" }],
  answers: [],
  spent: { ...NOTHING_SPENT, ...spent },
  judged: [],
})
const resultOf = (name: string, runs: readonly EvalRun[], passRate = 1) =>
  sumUpRuns({ case: name, agent: "files", model: "m", passRate }, runs)
const report = (...results: EvalReport["results"]): EvalReport =>
  sumUp({ file: "x.yaml", startedAt: "2026-01-01T00:00:00.000Z", ms: 1000, stopped: null }, results)

test("a check that no longer passes is a regression; earlier failures, new checks and removed checks are listed separately", () => {
  const before = report(
    resultOf("a", [run(true)]),
    resultOf("b", [run(false)]),
    resultOf("c", [run(false)]),
    resultOf("d", [run(true)]),
  )
  const now = report(
    resultOf("a", [run(false)]),
    resultOf("b", [run(false)]),
    resultOf("c", [run(true)]),
    resultOf("e", [run(false)]),
  )
  expect(compareReports(now, before, {})).toEqual({
    falls: ["a · files · m: it passed before"],
    newFailures: ["e · files · m"],
    known: ["b · files · m"],
    mended: ["c · files · m"],
    gone: ["d · files · m"],
  })
  expect(compareReports({ ...now, stopped: "it was interrupted" }, before, {}).gone).toEqual([])
})

test("figures fall only beyond a tolerance that is named", () => {
  const [cheap, dear] = [run(true, { costUsd: 0.1, ms: 1000 }), run(true, { costUsd: 0.13, ms: 1900 })]
  const [before, now] = [report(resultOf("a", [cheap])), report(resultOf("a", [dear]))]
  expect(compareReports(now, before, {}).falls).toEqual([])
  expect(compareReports(now, before, { cost: 0.31, latency: 1 }).falls).toEqual([])
  expect(compareReports(now, before, { cost: 0.2, latency: 0.5 }).falls).toEqual([
    "a · files · m: cost $0.13 (+30 %), and was $0.10; 20 % more is tolerated",
    "a · files · m: p50 1.9 s (+90 %), and was 1.0 s; 50 % more is tolerated",
  ])
  const unknown = report(resultOf("a", [run(true, { costUsd: null })]))
  expect(compareReports(unknown, before, { cost: 5 }).falls).toEqual([
    "a · files · m: cost is no longer known, and was $0.10",
  ])
  expect(comparisonLines(compareReports(before, now, { cost: 0 }))).toEqual(["Nothing has fallen."])
})

test("a case that could not run has no figures: its later figures are not a regression, and it does not affect averages", () => {
  const broken: EvalRun = { ...run(false), unmet: [], error: "a file is missing" }
  const before = report(resultOf("a", [broken]))
  const now = report(resultOf("a", [run(true, { costUsd: 0.1, inputTokens: 500, ms: 900 })]))
  const tolerance = { cost: 0.2, tokens: 0.2, latency: 0.2, latencyWithoutModel: 0.2 }
  expect(compareReports(now, before, tolerance)).toMatchObject({ falls: [], mended: ["a · files · m"] })
  expect(compareReports(before, now, tolerance).falls).toEqual(["a · files · m: it passed before"])
  const some = resultOf("a", [broken, run(true, { ms: 900, modelMs: 400 }), broken])
  expect([some.p50Ms, some.p50MsWithoutModel]).toEqual([900, 500])
})

test("the pass rate decides how many of several runs must pass, and times are medians", () => {
  const runs = [run(true, { ms: 300 }), run(false, { ms: 100 }), run(true, { ms: 200 })]
  expect(resultOf("a", runs)).toMatchObject({ passed: false, passedRuns: 2, p50Ms: 200 })
  expect(resultOf("a", runs, 0.67).passed).toBe(true)
  expect(resultOf("a", runs, 0.7).passed).toBe(false)
  expect(resultOf("a", runs.slice(0, 2)).p50Ms).toBe(200)
})

test("the table shows the problems of failed runs, without control characters", () => {
  const lines = reportLines(report(resultOf("a\u001b[2J", [run(true, { costUsd: null }), run(false)])))
  expect(lines).toEqual([
    "   case          agent  model  runs  cost  tokens   p50  without models",
    "✗  a⟨U+001B⟩[2J  files  m       1/2     –       0  0 ms            0 ms",
    "",
    "✗ a⟨U+001B⟩[2J · files · m, run 2",
    "    answer: it says nothing",
    "",
    "0 of 1 case passed, what it cost is not known, 1.0 s.",
  ])
})
