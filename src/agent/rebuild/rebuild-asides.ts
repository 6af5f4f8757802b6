import { codeOf } from "../../protocol/errors.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { AskedModel } from "../../protocol/conversation/stages.ts"
import { asideRequest } from "../ask/ask-aside.ts"
import { partToSumUp, toSummaryRequest } from "../ask/compact.ts"
import { gradingQuestion } from "../ask/grade.ts"
import { guardrailQuestion } from "../ask/guardrail.ts"
import { titleRequest } from "../ask/title-request.ts"
import type { Conversation } from "../conversation.ts"
import { GRADING, GUARDRAIL } from "../definition/stages.ts"
import { currentModel } from "../fallback.ts"
import { digestAside } from "../history/question-digest.ts"
import type { ModelRequest } from "../model.ts"
import type { Ports } from "../ports.ts"

/** What a model is asked for beside the replies. */
export type AsideKind = "guardrail" | "grading" | "summary" | "title"

/** Such a request, made again of the rows before what came of it: the first one, where an answer was sent back to be mended. */
export interface RebuiltAside {
  readonly position: number
  readonly beside: AsideKind
  readonly model: string
  readonly verdict: "equal" | "differs" | "not recorded" | "not rebuilt"
  readonly because?: string
  readonly differences: readonly { readonly what: "system" | "question" }[]
}

/** Undefined for an event that no model was asked for. */
export async function rebuildAside(
  ports: Ports,
  conversation: Conversation,
  event: JournalEvent,
): Promise<RebuiltAside | undefined> {
  const found = asideOf(event)
  if (!found) return undefined
  const { beside, asked } = found
  const told = { position: event.position, beside, model: asked.model, differences: [] }
  const request = await requestOf(ports, conversation, found)
  if (typeof request === "string") return { ...told, verdict: "not rebuilt", because: request }
  if (asked.question === undefined) return { ...told, verdict: "not recorded" }
  const now = digestAside(request)
  const differences = [
    ...(now.promptHash === asked.promptHash ? [] : [{ what: "system" as const }]),
    ...(now.question === asked.question ? [] : [{ what: "question" as const }]),
  ]
  return { ...told, verdict: differences.length > 0 ? "differs" : "equal", differences }
}

interface RecordedAside {
  readonly beside: AsideKind
  readonly asked: AskedModel
}

function asideOf(event: JournalEvent): RecordedAside | undefined {
  if (event.type === "settings" && event.titledBy) return { beside: "title", asked: event.titledBy }
  if (event.type === "compaction" && "asked" in event && event.asked) return { beside: "summary", asked: event.asked }
  if (event.type !== "step" || !event.asked) return undefined
  if (event.step !== GUARDRAIL && event.step !== GRADING) return undefined
  return { beside: event.step, asked: event.asked }
}

/** As it would be asked now, or what is in the way. */
async function requestOf(
  ports: Ports,
  conversation: Conversation,
  { beside, asked }: RecordedAside,
): Promise<ModelRequest | string> {
  const agent = ports.agents.of(conversation)
  const { guardrail, grading } = agent.stages ?? {}
  switch (beside) {
    case "guardrail":
      return guardrail ? asideRequest(guardrailQuestion(conversation, guardrail)) : `${agent.name} has no guardrail now`
    case "grading":
      return grading ? asideRequest(gradingQuestion(conversation, grading)) : `${agent.name} does not grade now`
    case "summary":
      return summaryOf(ports, conversation, asked.model)
    case "title": {
      const isGone = conversation.marks[0]?.isSummary === true
      return isGone ? "what it was made of has given way to a summary" : titleRequest(conversation)
    }
  }
}

/** How much is asked about follows from what the models can read. */
async function summaryOf(ports: Ports, conversation: Conversation, name: string): Promise<ModelRequest | string> {
  try {
    const [model, asked] = [
      await currentModel({ conversation, ports }),
      await ports.models.get(name, conversation.user),
    ]
    const part = partToSumUp(conversation, model)
    return part ? toSummaryRequest(conversation, part, { model, asked }).request : "nothing would be summed up here now"
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    return `a model is not to be had here, and how much it is told follows from what it can read: ${(error as Error).message}`
  }
}
