import { count } from "../../client/index.ts"
import { checkAnswer } from "../check/answer.ts"
import { checkLeftFiles, checkLeftRows } from "../check/left-behind.ts"
import { checkLimits } from "../check/limits.ts"
import type { EvalCase } from "../file/eval-file.ts"
import type { HappenedAnswer, Unmet } from "../happened.ts"
import type { CaseRun } from "./case-run.ts"
import { askJudge, type JudgedCase } from "./judge.ts"
import { type EvalPlace, SCRIPTED_JUDGE } from "./place.ts"
import { inside, startCase } from "./start-case.ts"
import { talk, type TalkedCase } from "./talk.ts"

export interface CaseOutcome extends Pick<TalkedCase, "agent" | "model" | "spent"> {
  readonly answers: readonly HappenedAnswer[]
  readonly judged: readonly JudgedCase[]
  readonly unmet: readonly Unmet[]
}

/** Runs a case in a place in which nothing was done before, and looks at what it has left there. */
export async function runCase(run: CaseRun, place: EvalPlace, signal: AbortSignal): Promise<CaseOutcome> {
  const { evalCase, isScripted } = run
  const { start = {}, expect } = evalCase
  const connection = await startCase(start, place, { base: run.base, signal })
  const { agent, model, rested, whole: answers, spent } = await talk(run, { place, connection, signal })
  const unmet = [
    ...checkTools(evalCase, await toolsOf(place, agent)),
    ...evalCase.say.flatMap(({ expect: here }, index) => checkSaid(here, rested[index], index)),
    ...checkWhole(evalCase, answers),
    ...(await checkLeftRows(expect.rows ?? [], place.client, connection)),
    ...(await checkFilesIn(evalCase, place.folder)),
    ...checkLimits(expect.limits ?? {}, spent),
    ...(isScripted ? checkScript(evalCase, place) : []),
  ]
  const judged: JudgedCase[] = []
  for (const [index, { rubric }] of (expect.judge ?? []).entries()) {
    const judge = run.judges[index] ?? SCRIPTED_JUDGE
    judged.push(await askJudge(place.client, { rubric, model: judge, words: evalCase.say, answers, signal }))
  }
  const refused = judged.flatMap(({ pass, reason }) => (pass ? [] : [{ expectation: "judge", problem: reason }]))
  return { agent, model, answers, spent, judged, unmet: [...unmet, ...refused] }
}

const checkSaid = (
  expected: EvalCase["say"][number]["expect"],
  answer: HappenedAnswer | undefined,
  index: number,
): Unmet[] => {
  if (!expected) return []
  const found = answer ? checkAnswer(expected, answer) : [{ expectation: "answer", problem: "it was never said" }]
  return found.map(({ expectation, problem }) => ({ expectation: `say[${index}].${expectation}`, problem }))
}

/** Calls and proposals of the whole conversation, and the answer that it ends with. */
function checkWhole({ expect, say }: EvalCase, answers: readonly HappenedAnswer[]): Unmet[] {
  const last = answers.at(-1)
  if (!last) return []
  const all = answers.flatMap(({ calls }) => calls)
  const proposals = answers.flatMap((each) => each.proposals)
  const found = checkAnswer(expect, { ...last, calls: all, proposals })
  const failsAsSaid = say[answers.length - 1]?.expect?.ends === "failed" && expect.ends === undefined
  return failsAsSaid ? found.filter(({ expectation }) => expectation !== "ends") : found
}

async function checkFilesIn({ expect: { files } }: EvalCase, folder: string | undefined): Promise<Unmet[]> {
  if (!files) return []
  if (folder === undefined)
    return [{ expectation: "files", problem: "the case works in no folder: start.files gives it one" }]
  return checkLeftFiles(files, (path) => inside(folder, path, "expect.files"))
}

const toolsOf = async ({ client }: EvalPlace, agent: string): Promise<ReadonlySet<string>> => {
  const { items } = await client.listTools()
  return new Set(items.flatMap((tool) => (tool.agent === agent ? [tool.name] : [])))
}

/** That a tool is not called is also true of a tool that is misspelt. */
function checkTools({ expect, say }: EvalCase, tools: ReadonlySet<string>): Unmet[] {
  const checks = [expect, ...say.flatMap((words) => words.expect ?? [])].flatMap(({ calls, proposals }) => [
    calls,
    proposals,
  ])
  const named = checks.flatMap((check) => check?.none ?? [])
  const unknown = [...new Set(named)].filter((tool) => !tools.has(tool))
  return unknown.map((tool) => ({
    expectation: "calls",
    problem: `this agent has no tool "${tool}" that it could leave alone`,
  }))
}

/** What was never asked for is a sign that less was done than the case was written for, and one question too many of more. */
function checkScript({ script }: EvalCase, place: EvalPlace): Unmet[] {
  const [written, asked] = [script?.replies.length ?? 0, place.asked()]
  if (written === asked) return []
  const problem = `it has ${count(written, "reply", "replies")}, and was asked ${count(asked, "time")}`
  return [{ expectation: "script", problem }]
}
