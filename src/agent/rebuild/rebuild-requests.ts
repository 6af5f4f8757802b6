import { codeOf } from "../../protocol/errors.ts"
import type { EventOf, JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import { digestRequest, readDigest } from "../history/request-digest.ts"
import { ground } from "../ask/ground.ts"
import { toRequest } from "../ask/to-request.ts"
import { withFiles } from "../ask/with-files.ts"
import type { Conversation } from "../conversation.ts"
import { emptyConversation } from "../empty-conversation.ts"
import type { Model, ModelRequest } from "../model.ts"
import { nextStep } from "../next-step.ts"
import type { Ports } from "../ports.ts"
import type { Work } from "../record.ts"
import { dropSettled, foldIn, isKnown } from "../replay/replay.ts"
import { type RebuiltAside, rebuildAside } from "./rebuild-asides.ts"
import { compareRequest, type Difference, type EarlierHistory } from "./compare-request.ts"

export type RecordedReply = EventOf<"message">

/** One request to the model, made again of the rows before its reply. */
export interface RebuiltRequest {
  /** Of the reply in the journal. */
  readonly position: number
  readonly reply: RecordedReply
  /**
   * `not recorded`: the reply is from before digests were kept. `broken off`: nobody was answered whole. `not rebuilt`: what
   * it needs is not there, and `because` says what.
   */
  readonly verdict: "equal" | "differs" | "not recorded" | "broken off" | "not rebuilt"
  readonly because?: string
  readonly differences: readonly Difference[]
  /** As it would be sent now; undefined where it was not rebuilt. */
  readonly request: ModelRequest | undefined
}

export interface RebuiltRun {
  readonly requests: readonly RebuiltRequest[]
  /** What was asked beside the replies. */
  readonly asides: readonly RebuiltAside[]
  /** The fold behind the last row. */
  readonly conversation: Conversation
  /** The first row that a newer Pawl has written: from there on nothing can be said. */
  readonly newer: { readonly position: number; readonly type: string } | undefined
  /** The first row that is not there though a later one is: from there on nothing can be said either. */
  readonly missing: number | undefined
}

export interface Rebuilding {
  readonly ports: Ports
  readonly id: ConversationId
  readonly user: UserId
  /** The rows of the run; those before it are only folded. */
  readonly rows: { readonly start: number; readonly upTo: number }
  readonly signal: AbortSignal
  /** Who is asked instead of who was asked then. */
  readonly model?: Model
  /** Looks at a request before the next is made; `stop` makes it the last. */
  readonly look?: (rebuilt: RebuiltRequest) => Promise<"stop" | "go on">
}

/**
 * Folds a journal from its first row and makes each request of a run again, with the code, agents and settings of now. It asks no
 * model, calls no tool and writes nothing; an agent that grounds its model reads what it reads.
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
    foldIn(conversation, event)
  }
  dropSettled(conversation)
  return { requests, asides, conversation, newer: undefined, missing: undefined }
}

/** A reply of a model. One that we have written, as an undo does, names none, and answers no request. */
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
  // The fold goes on growing: what is kept of it is as long as it is now.
  const kept = { ...request, history: [...request.history] }
  const recorded = readDigest(reply.request ?? "")
  if (!recorded) return { ...nothing, verdict: "not recorded", request: kept }
  const differences = compareRequest(
    recorded,
    { digest: digestRequest(asked, request, conversation.history), history: asked.history },
    earlier,
  )
  return { position, reply, verdict: differences.length > 0 ? "differs" : "equal", differences, request: kept }
}

/** The model that was asked, or what is in the way: how much is told, and how files are shown, follows from it. */
async function modelOf({ ports, conversation }: Work, name: string): Promise<Model | string> {
  try {
    return await ports.models.get(name, conversation.user)
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    return `${name} is not to be had here, and what it is told follows from what it can read: ${(error as Error).message}`
  }
}
