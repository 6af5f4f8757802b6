import { parse, type Schema } from "../engine/definition/schema.ts"
import type { Finish, Message } from "../protocol/conversation/message.ts"
import { AppError, failure } from "../protocol/errors.ts"
import type { ConversationId, RunId } from "../protocol/ids.ts"
import { readJsonAnswer } from "../shared/text/read-json.ts"
import { lookUntil, type PlacedRun } from "./follow.ts"
import type { PersonalParts, Proposal, Usage } from "./parts.ts"
import { type Question, readWaits } from "./questions.ts"

interface Asked {
  readonly conversationId: ConversationId
  readonly runId: RunId
  /** The model's latest text; empty if it has not replied yet. */
  readonly text: string
  readonly usage: Usage | null
  /** The position in the journal. `conversations.events(id, { after: cursor })` continues from it. */
  readonly cursor: string
}

/** The result of `ask` if the model has answered. */
export interface Answered<Value = unknown> extends Asked {
  readonly status: "answered"
  /** The answer parsed with the schema in `answers`; undefined if no schema was passed. */
  readonly value: Value
  /**
   * Why the reply ended: `stop`, or `limit` if the provider truncated it. `calls`: the model still called tools after
   * `maxIterations`, when it had to answer.
   */
  readonly finish: Finish | null
}

/**
 * The result of `ask` if writes wait for a person's decision. They are stored and survive a restart, until they
 * expire.
 */
export interface Undecided extends Asked {
  readonly status: "waiting"
  /**
   * `approval`: writes wait for approval. `expired`: every proposal has expired; `proposals.again` proposes one again.
   * `doubt`: it is unknown whether a write was applied; see `proposals.resolve`. `question`: no write waits, but a tool
   * has asked the user.
   */
  readonly because: "approval" | "expired" | "doubt" | "question"
  readonly proposals: readonly Proposal[]
  /** Questions of tools; `questions.answer` answers them. */
  readonly questions: readonly Question[]
}

/** The result of `ask` if the run failed. `error.code` says why; the messages so far are stored. */
export interface Failed extends Asked {
  readonly status: "failed"
  readonly error: { readonly code: string; readonly message: string }
}

/** The result of `ask` if the run was cancelled. */
export interface Cancelled extends Asked {
  readonly status: "cancelled"
}

/** The result of `ask`, by `status`: an answer, writes that wait for a decision, a failure, or a cancellation. */
export type Answer<Value = unknown> = Answered<Value> | Undecided | Failed | Cancelled

/** Waits until a run ends or pauses, and returns its answer. */
export function answerOf(parts: PersonalParts, id: ConversationId, run: PlacedRun): Promise<Answer> {
  return lookUntil(parts, id, () => answerNow(parts, id, run))
}

/** Parses the JSON answer with the agent's own schema. */
async function valueOf({ ports }: PersonalParts, id: ConversationId, messages: readonly Message[]): Promise<unknown> {
  const isAsked = messages.some(({ schema }) => schema !== undefined)
  const isTyped = ports.agents.all.some(({ answers }) => answers)
  if (!isAsked && !isTyped) return undefined
  const read = readJsonAnswer(messages.findLast(({ role }) => role === "assistant")?.content ?? "")
  if ("problem" in read || isAsked) return "value" in read ? read.value : undefined
  const { answers } = ports.agents.of(await ports.journal.load(id, true))
  const parsed = answers && (await parse(answers, read.value))
  return parsed && "value" in parsed ? parsed.value : undefined
}

async function answerNow(parts: PersonalParts, id: ConversationId, place: PlacedRun): Promise<Answer | undefined> {
  const { conversations, proposals } = parts.store
  const { runId } = place
  const user = await parts.user()
  // The cursor is read first: a caller that continues from it may receive an event twice, but misses none.
  const view = await conversations.find(user, id)
  const run = view && (await conversations.run(user, runId))
  if (!run) throw failure("not_found")
  const waits = run.status === "running" ? await readWaits(parts, id) : undefined
  if (waits && !waits.isIdle) return undefined
  const [messages, open] = await Promise.all([conversations.messagesOfRun(id, place.position), proposals.open(id)])
  const reply = messages.findLast(({ role, content }) => role === "assistant" && content !== "")
  const { usage, error, status, pauseReason } = run
  const asked = { conversationId: id, runId, text: reply?.content ?? "", usage, cursor: String(view.position) }
  switch (status) {
    case "completed":
      return {
        ...asked,
        status: "answered",
        finish: (reply ?? messages.findLast(({ role }) => role === "assistant"))?.finish ?? null,
        value: await valueOf(parts, id, messages),
      }
    case "cancelled":
      return { ...asked, status }
    case "failed":
      // A mistake of the test. An answer that failed would only show that its text is missing.
      if (error?.code === "script_ended") throw new AppError("script_ended", error.message)
      return { ...asked, status, error: error ?? { code: "internal", message: "The run failed." } }
    case "running": // until a person answers a question, or decides about writes of its sub-agents
    case "paused": {
      const proposals = waits?.proposals ?? open.filter((proposal) => proposal.runId === runId)
      const isExpired = proposals.length > 0 && proposals.every((proposal) => proposal.status === "expired")
      const isInDoubt = pauseReason === "in_doubt" || waits?.proposals.some(({ status }) => status === "in_doubt")
      const questions = waits?.questions ?? []
      const asks = questions.length > 0 && proposals.length === 0
      const because = isInDoubt ? "doubt" : isExpired ? "expired" : asks ? "question" : "approval"
      return { ...asked, status: "waiting", because, proposals, questions }
    }
  }
}

/**
 * Parses the answer with the caller's schema, which can have transforms and checks that its JSON schema does not
 * express.
 */
export async function asPromised(answer: Answer, answers: Schema<unknown> | undefined): Promise<Answer> {
  if (answer.status !== "answered" || !answers) return answer
  const parsed = await parse(answers, answer.value)
  if ("value" in parsed) return { ...answer, value: parsed.value }
  const { finish: _, value: __, ...asked } = answer
  // A plain object, as for other failed runs: JSON would lose the message of an `Error`.
  const { code, message } = failure("answer_unfit", { problem: parsed.problem, times: 0 })
  return { ...asked, status: "failed", error: { code, message } }
}
