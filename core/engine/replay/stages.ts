import {
  type Question,
  QUESTION,
  QUESTION_SETTLED,
  type SettledQuestion,
} from "../../protocol/conversation/questions.ts"
import type { Grading, Guardrail, LeftOut, RouterChoice } from "../../protocol/conversation/stages.ts"
import { CLIENT_TOOLS } from "../../protocol/conversation/tool-calls.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { addUsage } from "../add-usage.ts"
import { toClientTools } from "../calls/client-tools.ts"
import { countSources, sourcesIn } from "../history/source-numbers.ts"
import { type Call, type Conversation, madeProgress } from "../conversation.ts"
import { show, toDecision } from "../definition/agent.ts"
import { JOINED_TOOLS, toJoinedTools } from "../definition/joined-tools.ts"
import {
  ANSWER,
  TOOL_MODEL_CALL,
  GRADING,
  GUARDRAIL,
  isThin,
  LEFT_OUT,
  OUT_OF_SCOPE,
  passes,
  ROUTING,
  settingKeys,
  WAITING,
} from "../definition/stages.ts"
import { STORED_STATE } from "../definition/tool.ts"
import { tell } from "../history/history.ts"
import { asOneLine } from "../untrusted-text.ts"

const isNoProgress: ReadonlySet<string> = new Set([TOOL_MODEL_CALL, WAITING, LEFT_OUT, QUESTION, QUESTION_SETTLED])

/** Applies a step: the decision, its note for the model, and its usage. */
export function applyStep(conversation: Conversation, { step, detail, asked }: EventOf<"step">): void {
  const { run, stages, routing } = conversation
  if (run) {
    // A recorded decision is progress. A tool's model call is not: it is repeated if the tool does not return.
    if (!isNoProgress.has(step)) madeProgress(run)
    if (asked?.usage) run.usage = addUsage(run.usage, asked.usage)
  }
  switch (step) {
    case ROUTING:
      if (isChoice(detail)) stages.choice = detail
      else {
        routing.decision = toDecision(detail)
        if (routing.decision) show(routing, routing.decision)
        routing.pending = false
      }
      return
    case GUARDRAIL:
      Object.assign(stages, { pending: false, judged: conversation.seq })
      stages.guardrail = detail as Guardrail
      return
    case ANSWER: {
      const { fits, problem } = detail as { readonly fits: boolean; readonly problem?: string }
      if (fits || !run) return
      run.mends++
      return tell(
        conversation,
        `[This answer does not fit: ${problem ?? ""} Send it again, whole, as JSON and nothing else.]`,
      )
    }
    case LEFT_OUT:
      conversation.leftOut = new Set([...conversation.leftOut, ...settingKeys(detail as LeftOut)])
      return
    case CLIENT_TOOLS:
      conversation.clientTools = toClientTools(detail)
      return
    case JOINED_TOOLS:
      conversation.joined = toJoinedTools(detail)
      if (run) run.hasJoined = true
      return
    case STORED_STATE:
      return applyKept(conversation, detail)
    case QUESTION:
      return applyQuestion(conversation, detail)
    case QUESTION_SETTLED:
      return applySettledQuestion(conversation, detail)
    case OUT_OF_SCOPE:
      stages.wasInScope = false
      return
    case GRADING: {
      const grading = detail as Grading
      Object.assign(stages, { grading, ungraded: [], gradingPending: false })
      tell(conversation, inWords(grading, stages.numbers))
    }
  }
}

const isChoice = (detail: unknown): detail is RouterChoice =>
  typeof detail === "object" && detail !== null && "action" in detail

/** A new run has a new question. */
export function startStages({ stages }: Conversation): void {
  const { guardrail } = stages
  // A run without a verdict (a resumed one, an undo) keeps the verdict of the run before it.
  if (guardrail) stages.wasInScope = passes(guardrail)
  const fresh = { guardrail: undefined, choice: undefined, grading: undefined, found: [], ungraded: [] }
  Object.assign(stages, fresh, { searched: "no", gradingPending: false })
}

/** Applies the sources of a result. */
export function applySources({ stages }: Conversation, { data, status }: EventOf<"tool_end">): void {
  const sources = status === "ok" ? sourcesIn(data) : undefined
  if (!sources) return
  stages.gradingPending = true
  stages.numbers = countSources(stages.numbers, sources)
  const found = new Set(stages.found)
  const fresh = sources.filter(({ id }) => !found.has(id))
  stages.sources = new Map([...stages.sources, ...fresh.map((source) => [source.id, source] as const)])
  for (const { id } of fresh) {
    stages.found.push(id)
    stages.ungraded.push(id)
  }
  if (fresh.length > 0) stages.searched = "news"
  // A search without results is not a repetition: other words may find something.
  else if (sources.length > 0 && stages.searched === "no" && found.size > 0) stages.searched = "nothing_new"
}

/**
 * The note about grades for the model. It has the role of a user message and says that it is not one. The grading model
 * has read untrusted text, which may speak through it.
 */
function inWords(grading: Grading, numbers: ReadonlyMap<string, number>): string {
  const { grades, rewrite, evidence } = grading
  const named = (id: string) => numbers.get(id) ?? id
  if (evidence === "ungraded") return "[The passages could not be graded; judge them yourself.]"
  const dropped = grades
    .filter(({ relevant }) => !relevant)
    .map(({ id, reason }) => `${named(id)} ("${asOneLine(reason)}")`)
  const relevant = grades.filter((grade) => grade.relevant).map(({ id }) => named(id))
  const verdicts =
    grades.length === 0
      ? "Nothing new was found."
      : `Of ${grades.length} new passages ${relevant.length} are relevant: ${relevant.join(", ") || "none"}.` +
        (dropped.length > 0 ? ` Leave out: ${dropped.join("; ")}.` : "")
  if (!isThin(grading)) return `[Grading: ${verdicts} Answer from the relevant ones, or look for what is missing.]`
  return rewrite === null
    ? `[Grading: ${verdicts} There will be no more searches. Say honestly that there is not enough evidence, and what there is.]`
    : `[Grading: ${verdicts} That is thin. Search again with other words, such as: "${asOneLine(rewrite)}"]`
}

/** Applies the state that a call has stored for a restart after a crash. */
function applyKept({ run, calls }: Conversation, detail: unknown): void {
  const { callId, kept } = (detail ?? {}) as { readonly callId?: unknown; readonly kept?: JsonObject }
  const call = calls.find(({ id }) => id === callId)
  if (!run || !call || !kept) return
  call.kept = kept
  run.hasWaited = true
}

/** Applies a question of a tool's server. It is open until it is answered or expires, or its call ends. */
function applyQuestion({ run, calls }: Conversation, detail: unknown): void {
  const question = (detail ?? {}) as Question
  const call = calls.find(({ id }) => id === question.callId)
  if (!run || !call) return
  call.question = question
  // A long form counts once, however many parts it has.
  if ((question.part?.at ?? 1) === 1) call.asked = (call.asked ?? 0) + 1
  run.hasWaited = true
}

function applySettledQuestion({ calls }: Conversation, detail: unknown): void {
  const settled = (detail ?? {}) as SettledQuestion
  const call = calls.find(({ question }) => question?.id === settled.questionId)
  if (!call) return
  if (call.question?.number !== undefined) call.answers = [...(call.answers ?? []), settled]
  closeQuestion(call)
}

/** Closes a question whose server no longer waits for an answer. */
export function closeQuestion(call: Call): void {
  if (call.question) delete call.question
}
