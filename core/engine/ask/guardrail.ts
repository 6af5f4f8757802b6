import type { NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import type { RecordedModelCall, Guardrail } from "../../protocol/conversation/stages.ts"
import { mendText } from "../../shared/text/text.ts"
import { askDecision, settle } from "./ask-decision.ts"
import type { Conversation } from "../conversation.ts"
import type { HistoryMessage } from "../model.ts"
import { record, type Work } from "../record.ts"
import { conversationSoFar } from "./to-request.ts"
import { GUARDRAIL, type GuardrailStage, OUT_OF_SCOPE, passes, type StagesState } from "../definition/stages.ts"

const FOLLOW_UP_WORDS = 8
/**
 * Words without a subject, a task or a text to write. A message of only these words can only continue the previous one.
 * Every other message is judged, however short: "a love poem" is short, too.
 */
const PLAIN_WORDS = new Set(
  [
    "yes yeah yep no nope ok okay sure right exactly please thanks thank you",
    "and or but so then also too why how what when where who which not else instead",
    "the a an it its this that these those they them there one ones other others both all each any either neither same",
    "is are was were do does did can could would should will has have had of in on at for from to about with without as than",
    "go on continue tell me us more less again further detail details example examples short shorter briefly longer",
    "first second third fourth fifth last next previous before after since until earlier later now",
    "today tomorrow yesterday day days week weeks month months year years",
  ].flatMap((line) => line.split(" ")),
)
const MAX_REASON = 500

/**
 * Judges the user's unjudged messages, with the previous ones as context: the message that starts a run, and those that
 * join it later. If the model fails, they pass, and the record says so.
 */
export async function guardrail(work: Work): Promise<void> {
  const stage = work.agent.stages?.guardrail
  if (!stage) throw new Error(`${work.agent.name} has no guardrail`)
  if (isInScope(work.conversation.stages) && isPlainFollowUp(unjudged(work.conversation).words)) {
    const reason = "It continues what was in scope, and names nothing new."
    return verdict(work, { verdict: "follow_up", score: null, threshold: stage.threshold, reason })
  }
  const answered = await askDecision(work, guardrailQuestion(work.conversation, stage))
  if (!answered) return
  const { value, problem, asked, reservations } = answered
  await verdict(
    work,
    value ? judged(stage, value) : { ...OPEN, threshold: stage.threshold, problem: problem ?? "" },
    asked,
  )
  for (const reservation of reservations) await settle(work, reservation)
}

/** The request about unjudged messages. */
export function guardrailQuestion(conversation: Conversation, { instructions, answer }: GuardrailStage) {
  const { before, words } = unjudged(conversation)
  return { name: GUARDRAIL, instructions, text: `${conversationSoFar(before)}The person now says:\n${words}`, answer }
}

const OPEN = { verdict: "open", score: null, reason: "It could not be judged, so it may pass." } as const

function judged({ threshold }: GuardrailStage, { score, reason }: { score: number; reason: string }): Guardrail {
  const kind = score < threshold ? "out_of_scope" : "in_scope"
  return { verdict: kind, score, threshold, reason: mendText(reason.slice(0, MAX_REASON)) }
}

/**
 * If a message is out of scope, the refusal is recorded in the same commit, so that no crash in between can lead to an
 * answer.
 */
function verdict(work: Work, detail: Guardrail, asked?: RecordedModelCall): Promise<void> {
  const { agent, conversation } = work
  const step: NewEvent = { type: "step", step: GUARDRAIL, detail, ...(asked ? { asked } : {}) }
  if (detail.verdict !== "out_of_scope") return record(work, [step])
  // An earlier verdict was about the message that started this run.
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

function isPlainFollowUp(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.length > 0 && words.length <= FOLLOW_UP_WORDS && words.every(isPlain)
}

const isPlain = (word: string): boolean => PLAIN_WORDS.has(word) || /^\d{1,4}$/.test(word)

/** The verdict on the last message: of the current run, else of the run before it. */
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
