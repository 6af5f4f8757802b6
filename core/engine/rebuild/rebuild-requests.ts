import type { CallPart, Part, Usage } from "../../protocol/conversation/message.ts"
import type { RecordedModelCall } from "../../protocol/conversation/stages.ts"
import { codeOf } from "../../protocol/errors.ts"
import type { EventOf, JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import { canonicalJson } from "../../shared/text/json.ts"
import { systemClock } from "../../shared/time/clock.ts"
import { accounted, decisionRequest } from "../ask/ask-decision.ts"
import { partToSummarize, toSummaryRequest } from "../ask/compact.ts"
import { gradingQuestion } from "../ask/grade.ts"
import { guardrailQuestion } from "../ask/guardrail.ts"
import { Reply, streamReply } from "../ask/reply.ts"
import { titleRequest } from "../ask/title.ts"
import { ground, toRequest } from "../ask/to-request.ts"
import { withFiles } from "../ask/with-files.ts"
import type { Conversation } from "../conversation.ts"
import { GRADING, GUARDRAIL } from "../definition/stages.ts"
import { emptyConversation } from "../empty-conversation.ts"
import { currentModel } from "../fallback.ts"
import { messageText } from "../history/history.ts"
import { digestAside, digestRequest, digestsOf, readDigest, type RequestDigest } from "../history/request-digest.ts"
import type { HistoryMessage, Model, ModelRequest } from "../model.ts"
import { nextStep } from "../next-step.ts"
import type { Ports } from "../ports.ts"
import type { Work } from "../record.ts"
import { dropSettled, applyEvent, isKnown } from "../replay/replay.ts"

type RecordedReply = EventOf<"message">

/** A request to the model, rebuilt from the events before its reply. */
export interface RebuiltRequest {
  /** The position of the reply in the journal. */
  readonly position: number
  readonly reply: RecordedReply
  /**
   * `not recorded`: the reply is older than digests. `broken off`: the reply was interrupted. `not rebuilt`: something
   * it needs is missing; see `because`.
   */
  readonly verdict: "equal" | "differs" | "not recorded" | "broken off" | "not rebuilt"
  readonly because?: string
  readonly differences: readonly Difference[]
  /** As it would be sent now; undefined if it was not rebuilt. */
  readonly request: ModelRequest | undefined
}

export interface RebuiltRun {
  readonly requests: readonly RebuiltRequest[]
  /** Requests that are not for replies. */
  readonly asides: readonly RebuiltAside[]
  /** The state after the last event. */
  readonly conversation: Conversation
  /** The first event of a newer version, where the comparison ends. */
  readonly newer: { readonly position: number; readonly type: string } | undefined
  /** The first missing event before a later one, where the comparison ends. */
  readonly missing: number | undefined
}

interface Rebuilding {
  readonly ports: Ports
  readonly id: ConversationId
  readonly user: UserId
  /** The events of the run. Those before it are only replayed. */
  readonly rows: { readonly start: number; readonly upTo: number }
  readonly signal: AbortSignal
  /** The model to ask instead of the original one. */
  readonly model?: Model
  /** Called with each request before the next is rebuilt; `stop` ends the comparison. */
  readonly look?: (rebuilt: RebuiltRequest) => Promise<"stop" | "continue">
}

/**
 * Replays a journal and rebuilds each request of a run with the current code, agents and settings. It asks no model,
 * calls no tool and writes nothing, but an agent's grounding reads what it reads.
 */
export async function rebuildRequests(
  events: Iterable<JournalEvent | UnknownEvent>,
  rebuilding: Rebuilding,
): Promise<RebuiltRun> {
  const { id, user, rows, look } = rebuilding
  const conversation = emptyConversation(id, user)
  const requests: RebuiltRequest[] = []
  const asides: RebuiltAside[] = []
  const earlier: EarlierHistory[] = []
  for (const event of events) {
    if (event.position > rows.upTo) break
    const next = conversation.position + 1
    if (event.position !== next) return { requests, asides, conversation, newer: undefined, missing: next }
    if (!isKnown(event)) return { requests, asides, conversation, newer: event, missing: undefined }
    if (isReply(event) && event.position >= rows.start) {
      dropSettled(conversation)
      const rebuilt = await rebuild(rebuilding, conversation, { reply: event, earlier })
      requests.push(rebuilt)
      if ((await look?.(rebuilt)) === "stop") break
    }
    if (!look && event.position >= rows.start) {
      dropSettled(conversation)
      const aside = await rebuildAside(rebuilding.ports, conversation, event)
      if (aside) asides.push(aside)
    }
    const recorded = isReply(event) ? readDigest(event.request ?? "") : undefined
    if (recorded) earlier.push({ messages: recorded.messages, digest: recorded.newest.at(-1) ?? "" })
    applyEvent(conversation, event)
  }
  dropSettled(conversation)
  return { requests, asides, conversation, newer: undefined, missing: undefined }
}

/** A reply of a model. Replies written by the server, as for an undo, name no model and answer no request. */
const isReply = (event: JournalEvent): event is RecordedReply =>
  event.type === "message" && event.role === "assistant" && (event.model !== undefined || isBrokenOff(event))

const isBrokenOff = ({ finish }: RecordedReply): boolean => finish === "cancelled" || finish === "broken"

interface Answered {
  readonly reply: RecordedReply
  readonly earlier: readonly EarlierHistory[]
}

async function rebuild(
  { ports, signal, model: other }: Rebuilding,
  conversation: Conversation,
  { reply, earlier }: Answered,
): Promise<RebuiltRequest> {
  const { position } = reply
  const nothing = { position, reply, differences: [], request: undefined }
  if (reply.model === undefined || isBrokenOff(reply)) return { ...nothing, verdict: "broken off" }
  const agent = ports.agents.of(conversation)
  const step = nextStep(conversation, agent, ports.limits)
  if (step.type !== "ask-model")
    return { ...nothing, verdict: "differs", differences: [{ what: "step", step: step.type }] }
  const work: Work = { conversation, agent, ports, signal }
  const needsModel = agent.ground !== undefined || conversation.hasFiles
  const model = other ?? (needsModel ? await modelOf(work, reply.model) : { name: reply.model })
  if (typeof model === "string") return { ...nothing, verdict: "not rebuilt", because: model }
  const grounding = agent.ground && "stream" in model ? await ground(work, agent.ground, model) : ""
  const asked = toRequest(work, { model, toolChoice: step.toolChoice, grounding: grounding ?? "" })
  const request = "stream" in model ? await withFiles(work, model, asked) : asked
  if (!request) throw signal.reason
  // The state's list keeps growing, so copy it.
  const copy = { ...request, history: [...request.history] }
  const recorded = readDigest(reply.request ?? "")
  if (!recorded) return { ...nothing, verdict: "not recorded", request: copy }
  const differences = compareRequest(
    recorded,
    { digest: digestRequest(asked, request, conversation.history), history: asked.history },
    earlier,
  )
  return { position, reply, verdict: differences.length > 0 ? "differs" : "equal", differences, request: copy }
}

/** The model that was asked, or the problem. The size of the request and how files are shown depend on it. */
async function modelOf({ ports, conversation }: Work, name: string): Promise<Model | string> {
  try {
    return await ports.models.get(name, conversation.user)
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    return `${name} is not available, and its context window decides what it is sent: ${(error as Error).message}`
  }
}

/** The kinds of requests that are not for replies. */
type AsideKind = "guardrail" | "grading" | "summary" | "title"

/** Such a request, rebuilt from the events before its result: the first attempt, if the answer had to be corrected. */
export interface RebuiltAside {
  readonly position: number
  readonly beside: AsideKind
  readonly model: string
  readonly verdict: "equal" | "differs" | "not recorded" | "not rebuilt"
  readonly because?: string
  readonly differences: readonly { readonly what: "system" | "question" }[]
}

/** Undefined for an event without a model request. */
async function rebuildAside(
  ports: Ports,
  conversation: Conversation,
  event: JournalEvent,
): Promise<RebuiltAside | undefined> {
  const found = asideOf(event)
  if (!found) return undefined
  const { beside, asked } = found
  const base = { position: event.position, beside, model: asked.model, differences: [] }
  const request = await requestOf(ports, conversation, found)
  if (typeof request === "string") return { ...base, verdict: "not rebuilt", because: request }
  if (asked.question === undefined) return { ...base, verdict: "not recorded" }
  const now = digestAside(request)
  const differences = [
    ...(now.promptHash === asked.promptHash ? [] : [{ what: "system" as const }]),
    ...(now.question === asked.question ? [] : [{ what: "question" as const }]),
  ]
  return { ...base, verdict: differences.length > 0 ? "differs" : "equal", differences }
}

interface RecordedAside {
  readonly beside: AsideKind
  readonly asked: RecordedModelCall
}

function asideOf(event: JournalEvent): RecordedAside | undefined {
  if (event.type === "settings" && event.titledBy) return { beside: "title", asked: event.titledBy }
  if (event.type === "compaction" && "asked" in event && event.asked) return { beside: "summary", asked: event.asked }
  if (event.type !== "step" || !event.asked) return undefined
  if (event.step !== GUARDRAIL && event.step !== GRADING) return undefined
  return { beside: event.step, asked: event.asked }
}

/** The request as it would be sent now, or the problem. */
async function requestOf(
  ports: Ports,
  conversation: Conversation,
  { beside, asked }: RecordedAside,
): Promise<ModelRequest | string> {
  const agent = ports.agents.of(conversation)
  const { guardrail, grading } = agent.stages ?? {}
  switch (beside) {
    case "guardrail":
      return guardrail
        ? decisionRequest(guardrailQuestion(conversation, guardrail))
        : `${agent.name} has no guardrail now`
    case "grading":
      return grading ? decisionRequest(gradingQuestion(conversation, grading)) : `${agent.name} does not grade now`
    case "summary":
      return summaryOf(ports, conversation, asked.model)
    case "title": {
      const isGone = conversation.marks[0]?.isSummary === true
      return isGone ? "what it was made of has given way to a summary" : titleRequest(conversation)
    }
  }
}

/** The size of the request depends on the context of the models. */
async function summaryOf(ports: Ports, conversation: Conversation, name: string): Promise<ModelRequest | string> {
  try {
    const [model, asked] = [
      await currentModel({ conversation, ports }),
      await ports.models.get(name, conversation.user),
    ]
    const part = partToSummarize(conversation, model)
    return part ? toSummaryRequest(conversation, part, { model, asked }).request : "nothing would be summed up here now"
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    return `a model is not available, and its context window decides how much history it is sent: ${(error as Error).message}`
  }
}

/**
 * How a request differs from what was sent. Messages are counted from 1; `from` is before `to` if the record does not
 * say which message it was.
 */
export type Difference =
  | { readonly what: "step"; readonly step: string }
  | { readonly what: "system" | "tools" | "options" | "files" }
  | { readonly what: "message"; readonly from: number; readonly to: number; readonly role: HistoryMessage["role"] }
  | { readonly what: "messages"; readonly then: number; readonly now: number }

/** The recorded history of an earlier request: the number of messages and their digest. */
interface EarlierHistory {
  readonly messages: number
  readonly digest: string
}

/** Compares a rebuilt request with the record, in the order of its parts. */
function compareRequest(
  recorded: RequestDigest,
  rebuilt: { readonly digest: string; readonly history: readonly HistoryMessage[] },
  earlier: readonly EarlierHistory[] = [],
): Difference[] {
  const now = readDigest(rebuilt.digest)
  if (!now) throw new TypeError(`"${rebuilt.digest}" is no digest of a request`)
  const parts = (["system", "tools", "options"] as const).filter((part) => now[part] !== recorded[part])
  const differences: Difference[] = parts.map((what) => ({ what }))
  const message = compareHistory(recorded, rebuilt.history, earlier)
  if (message) differences.push(message)
  if (now.files !== recorded.files) differences.push({ what: "files" })
  return differences
}

function compareHistory(
  { messages, newest }: RequestDigest,
  history: readonly HistoryMessage[],
  earlier: readonly EarlierHistory[],
): Difference | undefined {
  const digests = digestsOf(history)
  const first = messages - newest.length
  const at = newest.findIndex((digest, index) => digest !== digests[first + index])
  if (at < 0) return history.length === messages ? undefined : { what: "messages", then: messages, now: history.length }
  const to = first + at + 1
  if (to > history.length) return { what: "messages", then: messages, now: history.length }
  // Only a digest up to the newest messages is recorded, unless an earlier request has an intermediate one.
  const known = earlier.findLast((each) => each.messages < to && digests[each.messages - 1] === each.digest)
  const from = at > 0 ? to : (known?.messages ?? 0) + 1
  return { what: "message", from, to, role: history[to - 1]!.role }
}

/** A model's reply: its text and its calls. */
export interface ComparedReply {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
}

export interface DryReply extends ComparedReply {
  readonly usage: Usage | undefined
  readonly ms: number
}

export const toComparedReply = (parts: readonly Part[]): ComparedReply => ({
  text: messageText(parts),
  calls: parts.filter((part): part is CallPart => part.type === "call").map(({ name, input }) => ({ name, input })),
})

/** Asks a model once without any effect: no tool is called, nothing is recorded or shown. */
export async function askWithoutEffects(
  model: Model,
  request: ModelRequest,
  { user, signal }: { readonly user: UserId; readonly signal: AbortSignal },
): Promise<DryReply> {
  const reply = new Reply(model.name, user, systemClock)
  const began = performance.now()
  await streamReply({ model, request, signal }, (part) => void reply.add(part))
  const ms = Math.round(performance.now() - began)
  return { ...toComparedReply(reply.parts), usage: accounted(model, reply.usage, undefined), ms }
}

/** True if both replies make the same calls, so that the recorded results fit both. */
export const callsAgree = (one: ComparedReply, other: ComparedReply): boolean =>
  canonicalJson(one.calls) === canonicalJson(other.calls)
