import type { MessageInput } from "../../../agent/input.ts"
import type { AskInput } from "../../../dialects/mcp/ask-input.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure, hasCode } from "../../../protocol/errors.ts"
import { type ConversationId, newId } from "../../../protocol/ids.ts"
import { conversationForKey } from "../../conversation/conversation-of-key.ts"
import { conversationOf } from "../../conversation/find.ts"
import { messageIdOfKey } from "../../conversation/message-key.ts"
import { toBeginning } from "../../conversation/settings.ts"
import type { FrameSource } from "../../stream/event-stream.ts"
import { subscribe } from "../../stream/open-stream.ts"
import { framesOfRun, sayAndWatch } from "../../stream/say-and-watch.ts"
import { watchRepeated } from "../../stream/watch-repeated.ts"
import { toConversationId } from "./reading.ts"
import type { McpToolCall } from "./tool.ts"

export interface OpenedAsk {
  readonly id: ConversationId
  readonly frames: FrameSource
}

/** Says what was asked, in a conversation of its own or in one that goes on, and gives the run that answers it. */
export async function openAsked(call: McpToolCall, input: AskInput, words: MessageInput): Promise<OpenedAsk> {
  const { caller, ports } = call
  const user = caller.person.id
  if (input.agent !== undefined) ports.agents.get(input.agent)
  if (input.conversation !== undefined) {
    const place = await conversationOf(ports, user, toConversationId(input.conversation))
    requireFit(place, input)
    return sayOnce(call, input, { words, place, isTaken: false })
  }
  const { agent, model, connection } = input
  const beginning = await toBeginning(caller, ports, { agent, model, connectionId: connection })
  const { key } = input
  if (key !== undefined) {
    const begin = (id: ConversationId) => ports.runtime.begin({ ...beginning, id })
    // Keys of other dialects are not these.
    const place = await conversationForKey(ports, { user, key: `mcp ${key}`, begin })
    // Words that are there are this request's, or of one before it that the key is forgotten of.
    const hasWords = (await ports.conversations.runs(place.id, { limit: 1 })).items.length > 0
    return sayOnce(call, input, { words, place, isTaken: hasWords || place.agent !== beginning.agent })
  }
  const id = newId("conv", user, ports.clock.now())
  await ports.runtime.begin({ ...beginning, id }, words)
  const source = await subscribe(ports, { id, after: { position: 0, offset: 0 } })
  return { id, frames: framesOfRun(ports, source, { id, position: 0, message: words.id, waits: false }) }
}

/** A conversation stays with its agent, its model and its database: what is named for a new one is not passed over. */
function requireFit(place: ConversationView, { agent, model, connection }: AskInput): void {
  const wrong = agent !== undefined && agent !== place.agent ? "agent" : model ? "model" : connection && "connection"
  if (wrong)
    throw failure("bad_request", { problem: `${wrong}: only for a new conversation; ${place.id} keeps its own.` })
}

interface Saying {
  readonly words: MessageInput
  readonly place: ConversationView
  /** It is for other words than these, unless these are there already. */
  readonly isTaken: boolean
}

/** Says the words in a conversation, or gives the run of those that the key has brought before. */
async function sayOnce(call: McpToolCall, input: AskInput, { words, place, isTaken }: Saying): Promise<OpenedAsk> {
  const { caller, ports } = call
  const { id, position } = place
  const user = caller.person.id
  const key = input.key && `mcp ${input.key}`
  const { messageId, repeated } = await messageIdOfKey(ports, { user, id, key, body: input })
  // A client that uses a number twice would have its new words taken for the old ones.
  const isUsed = key === undefined && (await ports.conversations.placeOf(id, words.id)) !== undefined
  const message: MessageInput = { ...words, id: key === undefined && !isUsed ? words.id : messageId }
  const isThere = async () => (await ports.conversations.placeOf(id, messageId)) !== undefined
  if (isTaken && !(repeated && (await isThere()))) throw failure("key_reused")
  if (!repeated) return { id, frames: await sayAndWatch(ports, place, message) }
  // From its beginning, as it stands now: without pauses that it has gone on from.
  const again = async () => ({
    id,
    frames: (await watchRepeated(ports, { id, position, message, asItStands: true })).frames,
  })
  return again().catch(async (error: unknown) => {
    // Of two that came at once the other was first, and what is at work is this very message.
    if (hasCode(error, "busy") && (await isThere())) return again()
    throw error
  })
}
