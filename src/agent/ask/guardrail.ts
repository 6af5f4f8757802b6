import type { NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import type { AskedModel, Guardrail } from "../../protocol/conversation/stages.ts"
import { mendText } from "../../protocol/text/text.ts"
import { askAside } from "./ask-aside.ts"
import type { Conversation } from "../conversation.ts"
import type { HistoryMessage } from "../model.ts"
import { record, type Work } from "../record.ts"
import { conversationSoFar } from "./conversation-so-far.ts"
import { settle } from "./spend.ts"
import { GUARDRAIL, type GuardrailStage, OUT_OF_SCOPE, passes, type StagesState } from "../definition/stages.ts"

/** A message of at most this length is judged together with the conversation before it: by itself it says too little. */
const FOLLOW_UP_CHARACTERS = 120
const FOLLOW_UP_WORDS = 16
const MAX_REASON = 500

/**
 * Judges what a person has said and nobody has judged yet, with what was said before in view: the words a run begins with,
 * and those that were let into it later. A judge who fails lets them pass, and says so.
 */
export async function guardrail(work: Work): Promise<void> {
  const stage = work.agent.stages?.guardrail
  if (!stage) throw new Error(`${work.agent.name} has no guardrail`)
  if (isInScope(work.conversation.stages) && isShort(unjudged(work.conversation).words)) {
    const reason = "A short follow-up to what was in scope."
    return verdict(work, { verdict: "follow_up", score: null, threshold: stage.threshold, reason })
  }
  const answered = await askAside(work, guardrailQuestion(work.conversation, stage))
  if (!answered) return
  const { value, problem, asked, reservations } = answered
  await verdict(
    work,
    value ? judged(stage, value) : { ...OPEN, threshold: stage.threshold, problem: problem ?? "" },
    asked,
  )
  for (const reservation of reservations) await settle(work, reservation)
}

/** What is asked about words that nobody has judged yet. */
export function guardrailQuestion(conversation: Conversation, { instructions, answer }: GuardrailStage) {
  const { before, words } = unjudged(conversation)
  return { name: GUARDRAIL, instructions, text: `${conversationSoFar(before)}The person now says:\n${words}`, answer }
}

const OPEN = { verdict: "open", score: null, reason: "It could not be judged, so it may pass." } as const

function judged({ threshold }: GuardrailStage, { score, reason }: { score: number; reason: string }): Guardrail {
  const kind = score < threshold ? "out_of_scope" : "in_scope"
  return { verdict: kind, score, threshold, reason: mendText(reason.slice(0, MAX_REASON)) }
}

/** Out of scope, the polite answer stands in the same commit: no crash in between can make anything of these words. */
function verdict(work: Work, detail: Guardrail, asked?: AskedModel): Promise<void> {
  const { agent, conversation } = work
  const step: NewEvent = { type: "step", step: GUARDRAIL, detail, ...(asked ? { asked } : {}) }
  if (detail.verdict !== "out_of_scope") return record(work, [step])
  // A verdict that stands already was about the words this run began with.
  const steered = conversation.stages.guardrail !== undefined
  const text = mendText(agent.stages?.guardrail?.decline(detail, { steered }) ?? "")
  const message = {
    type: "message",
    id: newId("msg", conversation.user),
    seq: conversation.seq + 1,
    role: "assistant",
  } as const
  const { score, reason } = detail
  return record(work, [
    step,
    { type: "step", step: OUT_OF_SCOPE, detail: { score, reason } },
    { ...message, parts: [{ type: "text", text }], finish: "stop" },
    { type: "run_ended", status: "completed", reason: OUT_OF_SCOPE },
  ])
}

const isShort = (words: string): boolean =>
  words.length <= FOLLOW_UP_CHARACTERS && words.trim().split(/\s+/).length <= FOLLOW_UP_WORDS

/** What the last words were judged as: in the run that goes on, else in the one before it. */
const isInScope = ({ guardrail, wasInScope }: StagesState): boolean => (guardrail ? passes(guardrail) : wasInScope)

interface Unjudged {
  readonly before: readonly HistoryMessage[]
  readonly words: string
}

function unjudged({ history, marks, stages }: Conversation): Unjudged {
  const isNew = (turn: HistoryMessage, index: number) =>
    turn.role === "user" && !turn.isNote && marks[index]!.seq > stages.judged
  const first = history.findIndex(isNew)
  const words = history.filter(isNew).flatMap((turn) => (turn.role === "user" ? [turn.text] : []))
  return { before: first < 0 ? history : history.slice(0, first), words: words.join("\n\n") }
}
