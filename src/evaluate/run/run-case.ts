import { count } from "../../client/index.ts"
import { checkAnswer } from "../check/answer.ts"
import { checkLeftFiles, checkLeftRows } from "../check/left-behind.ts"
import { checkLimits } from "../check/limits.ts"
import type { EvalCase } from "../file/eval-file.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { Mode } from "../../protocol/schema.ts"
import { addSpent, type HappenedAnswer, NOTHING_SPENT, type EvalSpent, type Unmet } from "../happened.ts"
import { askJudge, type JudgedCase } from "./judge.ts"
import { type EvalPlace, type PlaceNeeds, SCRIPTED_JUDGE } from "./place.ts"
import { type CaseRecord, recordRun } from "./record.ts"
import { CaseFault, inside, startCase } from "./start-case.ts"
import { speak } from "./talk.ts"

/** One run of one case: with whom, and from where its paths begin. */
export interface CaseRun {
  readonly evalCase: EvalCase
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly isScripted: boolean
  /** Who judges each of its checks; undefined where a script does. */
  readonly judges: readonly (string | undefined)[]
  readonly mode: Mode | undefined
  readonly settings: ReplySettings | undefined
  readonly base: string
}

export interface CaseOutcome {
  /** As they really were, where the case left it open. */
  readonly agent: string
  readonly model: string | null
  readonly answers: readonly HappenedAnswer[]
  readonly spent: EvalSpent
  readonly judged: readonly JudgedCase[]
  readonly unmet: readonly Unmet[]
}

/** What a case needs of the place that it is run in. */
export function placeNeeds({ evalCase, agent, isScripted, judges }: CaseRun): PlaceNeeds {
  const { start = {}, expect, script } = evalCase
  const verdicts = (expect.judge ?? []).map((judge, index) => (judges[index] === undefined ? judge.script : undefined))
  return {
    hasFolder: agent === "files" || start.files !== undefined || start.folder !== undefined,
    script: isScripted ? script : undefined,
    verdicts: verdicts.filter((verdict) => verdict !== undefined),
  }
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

/** What was said, as it stood when each message rested and, in `whole`, as it stands at the end. */
interface Talk extends Pick<CaseOutcome, "agent" | "model" | "spent"> {
  readonly rested: readonly HappenedAnswer[]
  readonly whole: readonly HappenedAnswer[]
}

async function talk(
  { evalCase, agent: wanted, model: chosen, mode, settings, base }: CaseRun,
  { place, connection, signal }: { place: EvalPlace; connection: string | undefined; signal: AbortSignal },
): Promise<Talk> {
  const { client } = place
  const body = { agent: wanted, model: chosen, mode, connectionId: connection }
  const { id, agent, model } = await client.createConversation({ body })
  const stop = () => void client.cancelRun({ params: { id } }).catch(() => {}) // nothing was at work, or it ends with the place
  signal.addEventListener("abort", stop, { once: true })
  const runs: string[] = []
  const rested: HappenedAnswer[] = []
  try {
    for (const words of evalCase.say) {
      signal.throwIfAborted()
      const said = { client, id, base, settings, approve: evalCase.approve ?? "leave", signal } as const
      runs.push(await speak(words, said))
      const { happened } = await recordRun(client, runs.at(-1)!)
      rested.push(happened)
      if (happened.status === "failed") break // whatever is said next would be said to nobody
    }
  } finally {
    signal.removeEventListener("abort", stop)
  }
  signal.throwIfAborted()
  const records: CaseRecord[] = []
  for (const run of runs) records.push(await recordRun(client, run))
  return {
    ...{ agent, rested, whole: records.map(({ happened }) => happened) },
    model: records.findLast((each) => each.model !== null)?.model ?? model,
    spent: records.map(({ spent }) => spent).reduce(addSpent, NOTHING_SPENT),
  }
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
  const isSaid = say[answers.length - 1]?.expect?.ends === "failed" && expect.ends === undefined
  return isSaid ? found.filter(({ expectation }) => expectation !== "ends") : found
}

async function checkFilesIn({ expect: { files } }: EvalCase, folder: string | undefined): Promise<Unmet[]> {
  if (!files) return []
  if (folder === undefined) throw new CaseFault("expect.files: the case works in no folder; start.files gives it one.")
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
