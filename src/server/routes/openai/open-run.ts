import type { Context } from "hono"
import { refuseText } from "../../../agent/accept/refuse-input.ts"
import type { ClientResult, MessageInput } from "../../../agent/input.ts"
import type { AskedAnswer } from "../../../dialects/openai/asked-answer.ts"
import { readCallId } from "../../../dialects/openai/functions.ts"
import type { NamedModel } from "../../../dialects/openai/model-names.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure, hasCode } from "../../../protocol/errors.ts"
import { type ConversationId, newId, type RunId } from "../../../protocol/ids.ts"
import { changeModel } from "../../conversation/change-model.ts"
import { conversationForKey } from "../../conversation/conversation-of-key.ts"
import { messageIdFor, readKey } from "../../conversation/message-key.ts"
import { toBeginning } from "../../conversation/settings.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { FrameSource } from "../../stream/event-stream.ts"
import { bringResults } from "../../stream/bring-results.ts"
import { subscribe } from "../../stream/open-stream.ts"
import { framesOfRun, sayAndWatch } from "../../stream/say-and-watch.ts"
import { watchRepeated } from "../../stream/watch-repeated.ts"
import { findNamed, newestRunBehind, requireFit } from "./go-on.ts"
import type { OpenAiPorts } from "./ports.ts"
import { toAskedMessage } from "./asked-message.ts"

export interface WantedRun {
  readonly asked: AskedAnswer
  readonly named: NamedModel
  /** The conversation that it goes on with; without one it begins its own. */
  readonly conversation: string | undefined
  /** The same by its newest run: what was said since would be passed over otherwise. */
  readonly after?: RunId | undefined
  /** All that was asked: with the same key it has to be the same. */
  readonly body: unknown
}

export interface OpenedRun {
  readonly id: ConversationId
  readonly frames: FrameSource
  /** Of a run that goes on with results: where. */
  readonly part?: number
}

/** One request on its way to its run. */
interface Opening {
  readonly c: Context<Env>
  readonly ports: OpenAiPorts
  readonly wanted: WantedRun
  readonly mode: "read-only" | undefined
  readonly message: MessageInput
}

/**
 * Says what was asked, in a conversation of its own or in one that goes on, and gives the run that answers. All that can be
 * refused is looked at before anything is changed, and what is only repeated changes nothing.
 */
export async function openRun(c: Context<Env>, ports: OpenAiPorts, wanted: WantedRun): Promise<OpenedRun> {
  const { asked, named } = wanted
  const mode = readWrites(c) === "refuse" ? "read-only" : undefined
  ports.agents.get(named.agent)
  if (asked.schema) await ports.answerSchema?.(asked.schema)
  ports.streams.admit(c.get("caller"))
  const outputs = readOutputs(asked)
  const conversation = wanted.conversation ?? (wanted.after ? undefined : outputs[0]?.conversation)
  const found = await findNamed(c, ports, { ...wanted, conversation })
  if (outputs.some((output) => output.conversation !== found?.id)) throw failure("not_found")
  if (asked.words === undefined && found) return bring(c, ports, { found, agent: named.agent, outputs })
  const { message, ignored } = toAskedMessage(c, asked, { goesOn: found !== undefined, results: outputs })
  refuseText(message)
  const opening: Opening = { c, ports, wanted, mode, message }
  const opened = await (found ? goOn(opening, found) : begin(opening))
  c.header("x-pawl-conversation", opened.id)
  if (ignored.length > 0) c.header("x-pawl-ignored", ignored.join(", "))
  return opened
}

/** What functions have answered, by the calls that they are for. Of those that are not ours nothing is known here. */
function readOutputs({ words, outputs }: AskedAnswer): (ClientResult & { readonly conversation: ConversationId })[] {
  return outputs.flatMap(({ id, text }) => {
    const named = readCallId(id)
    if (!named && words === undefined) throw failure("not_found")
    return named ? [{ ...named, status: "ok" as const, text }] : []
  })
}

interface Bringing {
  readonly found: ConversationView
  readonly agent: string
  readonly outputs: readonly ClientResult[]
}

/** Brings what functions have answered, and gives the run that goes on with it. */
async function bring(c: Context<Env>, ports: OpenAiPorts, { found, agent, outputs }: Bringing): Promise<OpenedRun> {
  requireFit(found, { agent, mode: undefined })
  try {
    const { id } = found
    const results = outputs.map(({ callId, status, text }) => ({ callId, status, text }))
    refuseText({ type: "client_results", results, by: userOf(c) })
    const brought = await bringResults(ports, { user: userOf(c), id, results })
    c.header("x-pawl-conversation", id)
    return { id, ...brought }
  } catch (error) {
    // A client that tries again by itself would find the same: its results are there, or are not wanted any more. What
    // could not be kept while the run was at work may come again.
    if (!hasCode(error, "busy")) c.header("x-should-retry", "false")
    throw error
  }
}

async function goOn(opening: Opening, found: ConversationView): Promise<OpenedRun> {
  requireFit(found, { agent: opening.wanted.named.agent, mode: opening.mode })
  return sayOnce(opening, { place: found, isTaken: false })
}

async function begin(opening: Opening): Promise<OpenedRun> {
  const { c, ports, wanted, mode, message } = opening
  const { named } = wanted
  const beginWith = async (id: ConversationId, first?: MessageInput) =>
    ports.runtime.begin({ ...(await toBeginning(c.get("caller"), ports, { ...named, mode })), id }, first)
  const key = readKey(c)
  if (key !== undefined) {
    const place = await conversationForKey(ports, { user: userOf(c), key, begin: beginWith })
    // Words that are there are this request's or of another that had the key before: what it stood for is forgotten in a day.
    const hasWords = (await ports.conversations.runs(place.id, { limit: 1 })).items.length > 0
    const isOther = place.agent !== named.agent || (place.mode === "read-only") !== (mode === "read-only")
    return sayOnce(opening, { place, isTaken: hasWords || isOther })
  }
  const id = newId("conv", userOf(c), ports.clock.now())
  return saying(c, async () => {
    await beginWith(id, message)
    const source = await subscribe(ports, { id, after: { position: 0, offset: 0 } })
    return { id, frames: framesOfRun(ports, source, { id, position: 0, message: message.id, waits: false }) }
  })
}

interface Place {
  readonly place: ConversationView
  /** It is for other words than these, unless these are there already. */
  readonly isTaken: boolean
}

/** Says the words in a conversation, or gives the run of those that the key has brought before. */
async function sayOnce({ c, ports, wanted, message }: Opening, { place, isTaken }: Place): Promise<OpenedRun> {
  const { id, position } = place
  // Headers and address count as the body does: the same words with writes refused are another request.
  const body = [c.req.path, readWrites(c), wanted.body]
  const { messageId, repeated } = await messageIdFor(c, ports, { id, body })
  const said = { ...message, id: messageId }
  const isThere = async () => repeated && (await ports.conversations.placeOf(id, messageId)) !== undefined
  const again = async (words: MessageInput): Promise<OpenedRun> => ({
    id,
    frames: (await watchRepeated(ports, { id, position, message: words, asItStands: true })).frames,
  })
  if (await isThere()) return again(said)
  if (isTaken) throw failure("key_reused")
  const behind = wanted.after && (await newestRunBehind(ports, id, wanted.after))
  if (wanted.after && !behind) {
    if (await isThere()) return again(said) // by the other one of two that came at once
    const problem = `previous_response_id: more was said since; send \`conversation: "${id}"\` to go on, or fork it.`
    throw failure("bad_request", { problem })
  }
  return saying(c, async () => {
    await changeModel(c.get("caller"), ports, { found: place, name: wanted.named.model })
    const words = { ...said, ...(behind ? { behind } : {}) }
    try {
      return repeated ? await again(words) : { id, frames: await sayAndWatch(ports, place, words) }
    } catch (error) {
      if (!hasCode(error, "busy") || !(await isThere())) throw error
      return again(words) // the other one of two that came at once is at work on it
    }
  })
}

/**
 * From here on the words may have been said, also where that fails: a client that tries again by itself would say them
 * twice, unless a key says that they are the same. One that tries until a conversation is free again is not wanted at all.
 */
async function saying(c: Context<Env>, say: () => Promise<OpenedRun>): Promise<OpenedRun> {
  try {
    return await say()
  } catch (error) {
    if (readKey(c) === undefined || hasCode(error, "busy")) c.header("x-should-retry", "false")
    throw error
  }
}

/** `X-Pawl-Writes`: whether what would be changed waits for a person, which is the usual, or is refused. */
function readWrites(c: Context<Env>): "wait" | "refuse" {
  const given = c.req.header("x-pawl-writes") ?? "wait"
  if (given !== "wait" && given !== "refuse")
    throw failure("bad_request", { problem: "X-Pawl-Writes: wait or refuse." })
  return given
}
