import { readFile } from "node:fs/promises"
import { basename, resolve } from "node:path"
import { type Client, count, hasCode } from "../../../client/index.ts"
import type { ReplySettings } from "../../../core/protocol/conversation/reply-settings.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { checkExpectedAnswer } from "../check-answer.ts"
import { checkFiles, checkWorkspaceRows, checkLimits } from "../check-left-behind.ts"
import type { Approve, EvalCase, EvalWords } from "../file/eval-file.ts"
import { type EvalSpent, type RecordedAnswer, NOTHING_SPENT, type FailedCheck, addSpent } from "../happened.ts"
import { type JudgedCase, askJudge } from "./judge.ts"
import { type CaseRun, type EvalPlace, SCRIPTED_JUDGE } from "./place.ts"
import { type CaseRecord, recordRun } from "./record.ts"
import { CaseFault, inside, startCase } from "./start-case.ts"

export interface CaseOutcome extends Pick<CaseTranscript, "agent" | "model" | "spent"> {
  readonly answers: readonly RecordedAnswer[]
  readonly judged: readonly JudgedCase[]
  readonly unmet: readonly FailedCheck[]
}

/** Runs a case in a new environment, and checks the state that it leaves. */
export async function runCase(run: CaseRun, place: EvalPlace, signal: AbortSignal): Promise<CaseOutcome> {
  const { evalCase, isScripted } = run
  const { start = {}, expect } = evalCase
  const connection = await startCase(start, place, { base: run.base, signal })
  const { agent, model, rested, whole: answers, spent } = await talk(run, { place, connection, signal })
  const unmet = [
    ...checkTools(evalCase, await toolsOf(place, agent)),
    ...evalCase.say.flatMap(({ expect: here }, index) => checkSaid(here, rested[index], index)),
    ...checkWhole(evalCase, answers),
    ...(await checkWorkspaceRows(expect.rows ?? [], place.client, connection)),
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
  answer: RecordedAnswer | undefined,
  index: number,
): FailedCheck[] => {
  if (!expected) return []
  const found = answer
    ? checkExpectedAnswer(expected, answer)
    : [{ expectation: "answer", problem: "it was never said" }]
  return found.map(({ expectation, problem }) => ({ expectation: `say[${index}].${expectation}`, problem }))
}

/** Checks the calls and proposals of the whole conversation, and its last answer. */
function checkWhole({ expect, say }: EvalCase, answers: readonly RecordedAnswer[]): FailedCheck[] {
  const last = answers.at(-1)
  if (!last) return []
  const all = answers.flatMap(({ calls }) => calls)
  const proposals = answers.flatMap((each) => each.proposals)
  const found = checkExpectedAnswer(expect, { ...last, calls: all, proposals })
  const failsAsSaid = say[answers.length - 1]?.expect?.ends === "failed" && expect.ends === undefined
  return failsAsSaid ? found.filter(({ expectation }) => expectation !== "ends") : found
}

async function checkFilesIn({ expect: { files } }: EvalCase, folder: string | undefined): Promise<FailedCheck[]> {
  if (!files) return []
  if (folder === undefined)
    return [{ expectation: "files", problem: "the case works in no folder: start.files gives it one" }]
  return checkFiles(files, (path) => inside(folder, path, "expect.files"))
}

const toolsOf = async ({ client }: EvalPlace, agent: string): Promise<ReadonlySet<string>> => {
  const { items } = await client.listTools()
  return new Set(items.flatMap((tool) => (tool.agent === agent ? [tool.name] : [])))
}

/** Refuses unknown tools: the expectation that a misspelt tool is not called would always be met. */
function checkTools({ expect, say }: EvalCase, tools: ReadonlySet<string>): FailedCheck[] {
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

/** Unused replies show that less was done than the case expects, and a missing reply that more was. */
function checkScript({ script }: EvalCase, place: EvalPlace): FailedCheck[] {
  const [written, asked] = [script?.replies.length ?? 0, place.asked()]
  if (written === asked) return []
  const problem = `it has ${count(written, "reply", "replies")}, and was asked ${count(asked, "time")}`
  return [{ expectation: "script", problem }]
}

interface CaseTranscript {
  /** The actual agent and model, if the case chose none. */
  readonly agent: string
  readonly model: string | null
  readonly spent: EvalSpent
  /** The outcome of each message when its run became idle. */
  readonly rested: readonly RecordedAnswer[]
  /** The same at the end: a later message may have replaced open proposals. */
  readonly whole: readonly RecordedAnswer[]
}

/** Sends all messages of a case, one after the other, in a new conversation. */
async function talk(
  { evalCase, agent: wanted, model: chosen, mode, settings, base }: CaseRun,
  { place, connection, signal }: { place: EvalPlace; connection: string | undefined; signal: AbortSignal },
): Promise<CaseTranscript> {
  const { client } = place
  // Without fallback models, because the figures would be those of another model.
  const body = { agent: wanted, model: chosen, mode, connectionId: connection, fallback: [] }
  const { id, agent, model } = await client.createConversation({ body })
  const stop = () => void client.cancelRun({ params: { id } }).catch(() => {}) // no active run, or it ends with the environment
  signal.addEventListener("abort", stop, { once: true })
  const runs: string[] = []
  const rested: RecordedAnswer[] = []
  try {
    for (const words of evalCase.say) {
      signal.throwIfAborted()
      const said = { client, id, base, settings, approve: evalCase.approve ?? "leave", signal } as const
      runs.push(await speak(words, said))
      const { happened } = await recordRun(client, runs.at(-1)!)
      rested.push(happened)
      if (happened.status === "failed") break // a further message would have no reader
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

interface Speaking {
  readonly client: Client
  readonly id: string
  readonly base: string
  readonly settings: ReplySettings | undefined
  /** For messages without their own decision. */
  readonly approve: Approve
  readonly signal: AbortSignal
}

/** Sends a message, decides its proposals as the case says, and waits until the run ends. Returns its id. */
async function speak(words: EvalWords, speaking: Speaking): Promise<string> {
  const { client, id, settings, signal } = speaking
  const approve = words.approve ?? speaking.approve
  const files: string[] = []
  for (const path of words.files ?? []) files.push(await upload(client, resolve(speaking.base, path)))
  const body = { text: words.text, ...(files.length > 0 ? { files } : {}), ...(settings ? { settings } : {}) }
  const answer = await client.sendMessage({ params: { id }, body, signal })
  // Each message is sent after the previous run is idle, so that none waits in the queue.
  if (!("run" in answer)) throw new Error("The words were queued behind a run that had rested.")
  for (let { run, proposals } = answer; run.status === "paused";) {
    const open = proposals.filter(({ status }) => status === "pending")
    if ((await decide(client, open, approve)) < open.length || open.length === 0) break
    ;({ run, proposals } = await client.resumeRun({ params: { id }, signal }))
  }
  return answer.run.id
}

async function upload(client: Client, path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new CaseFault(`say.files: ${path} cannot be read (${error.code}).`)
  })
  return (await client.uploadFile({ file: new Uint8Array(bytes), query: { name: basename(path) } })).id
}

/** Returns the number of decided proposals. */
async function decide(client: Client, proposals: readonly Proposal[], approve: Approve): Promise<number> {
  let decided = 0
  for (const { id, tool } of proposals) {
    const said = answerTo(tool, approve)
    if (said === "leave") continue
    decided += 1
    if (said === "yes") await agree(client, id)
    else await client.rejectProposal({ params: { id }, body: {} })
  }
  return decided
}

/** A previous proposal may have changed the target; then it fails, which is the outcome of the case. */
async function agree(client: Client, id: string): Promise<void> {
  await client.commitProposal({ params: { id }, body: {} }).catch((error: unknown) => {
    if (!hasCode(error, "proposal_stale")) throw error
  })
}

function answerTo(tool: string, approve: Approve): "yes" | "no" | "leave" {
  if (approve === "all") return "yes"
  if (approve === "none") return "no"
  if (approve === "leave") return "leave"
  if (Array.isArray(approve)) return approve.includes(tool) ? "yes" : "no"
  return Object.hasOwn(approve, tool) ? (approve[tool] ?? "no") : "no"
}
