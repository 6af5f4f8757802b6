import type { Context } from "hono"
import type { MessageInput } from "../../../agent/input.ts"
import type { AskedAnswer } from "../../../dialects/openai/asked-answer.ts"
import type { NamedModel } from "../../../dialects/openai/model-names.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure } from "../../../protocol/errors.ts"
import { type ConversationId, isId, newId, type RunId } from "../../../protocol/ids.ts"
import { toClientContext } from "../../conversation/client-context.ts"
import { conversationOf } from "../../conversation/find.ts"
import { messageIdFor, readKey } from "../../conversation/message-key.ts"
import { chooseModel, toBeginning } from "../../conversation/settings.ts"
import { spokenBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { FrameSource } from "../../stream/event-stream.ts"
import { subscribe } from "../../stream/open-stream.ts"
import { framesOfRun, sayAndWatch } from "../../stream/say-and-watch.ts"
import { watchRepeated } from "../../stream/watch-repeated.ts"
import { conversationOfKey } from "./conversation-of-key.ts"
import type { OpenAiPorts } from "./ports.ts"

/** Characters that these clients send along, which tell all of a conversation with each request. */
const ROOM = { all: 64_000, one: 48_000 }

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
}

/** Says what was asked, in a conversation of its own or in one that goes on, and gives the run that answers. */
export async function openRun(c: Context<Env>, ports: OpenAiPorts, wanted: WantedRun): Promise<OpenedRun> {
  const { asked, named } = wanted
  const writes = readWrites(c)
  ports.agents.get(named.agent)
  if (asked.schema) await ports.answerSchema?.(asked.schema)
  ports.streams.admit(c.get("caller")) // before anything is done that a refusal would deny
  const mode = writes === "refuse" ? "read-only" : undefined
  const found = await findNamed(c, ports, wanted)
  if (found) await fit(c, ports, { found, named, mode })
  const begin = async (id: ConversationId, message?: MessageInput) =>
    ports.runtime.begin({ ...(await toBeginning(c.get("caller"), ports, { ...named, mode })), id }, message)
  const opened = await open()
  c.header("x-pawl-conversation", opened.id)
  if (asked.ignored.length > 0) c.header("x-pawl-ignored", asked.ignored.join(", "))
  return opened

  async function open(): Promise<OpenedRun> {
    const key = readKey(c)
    if (!found && key === undefined) return beginWith(newId("conv", userOf(c), ports.clock.now()))
    const place = found ?? (await keyed(key ?? ""))
    const { id } = place
    const { messageId, repeated } = await messageIdFor(c, ports, { id, body: wanted.body })
    const message = toMessage(c, asked, messageId)
    // One that is there already has come after its run itself.
    const isThere = repeated && (await ports.conversations.placeOf(id, messageId)) !== undefined
    if (!isThere && wanted.after) await requireNewest(ports, id, wanted.after)
    if (repeated) return { id, frames: (await watchRepeated(ports, { ...place, message })).frames }
    return { id, frames: await sayAndWatch(ports, place, message) }
  }

  async function beginWith(id: ConversationId): Promise<OpenedRun> {
    const message = toMessage(c, asked, newId("msg", userOf(c)))
    await begin(id, message)
    const source = await subscribe(ports, { id, after: { position: 0, offset: 0 } })
    return { id, frames: framesOfRun(ports, source, { id, position: 0, message: message.id, waits: false }) }
  }

  /**
   * A conversation that the key stands for. It is there before the words are: whoever dies in between, or comes second,
   * finds it and says them in it.
   */
  async function keyed(key: string): Promise<ConversationView> {
    const user = userOf(c)
    const id = conversationOfKey(user, key)
    const known = await ports.conversations.find(user, id)
    if (known) return known
    try {
      await begin(id)
    } catch (error) {
      const others = await ports.conversations.find(user, id)
      if (!others) throw error
      return others
    }
    return conversationOf(ports, user, id)
  }
}

function toMessage(
  c: Context<Env>,
  { words, context, settings, schema }: AskedAnswer,
  id: MessageInput["id"],
): MessageInput {
  const brought = toClientContext(context, ROOM)
  return {
    ...{ type: "message", id, text: words, when: "reject" },
    ...spokenBy(c.get("caller")),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(schema ? { schema } : {}),
    ...(brought.length > 0 ? { brought } : {}),
  }
}

/** `X-Pawl-Writes`: whether what would be changed waits for a person, which is the usual, or is refused. */
function readWrites(c: Context<Env>): "wait" | "refuse" {
  const given = c.req.header("x-pawl-writes") ?? "wait"
  if (given !== "wait" && given !== "refuse")
    throw failure("bad_request", { problem: "X-Pawl-Writes: wait or refuse." })
  return given
}

/** The conversation that a request goes on with, if it names one. Throws `not_found` for what is not the caller's. */
async function findNamed(
  c: Context<Env>,
  ports: OpenAiPorts,
  { conversation, after }: WantedRun,
): Promise<ConversationView | undefined> {
  const user = userOf(c)
  const id = after ? (await ports.conversations.run(user, after))?.conversationId : conversation
  if (id === undefined && !after) return undefined
  if (id === undefined || !isId("conv", id)) throw failure("not_found")
  return conversationOf(ports, user, id)
}

async function requireNewest({ conversations }: OpenAiPorts, id: ConversationId, after: RunId): Promise<void> {
  const [newest] = (await conversations.runs(id, { limit: 1 })).items
  if (newest?.id === after) return
  const problem = `previous_response_id: more was said since; send \`conversation: "${id}"\` to go on, or fork it.`
  throw failure("bad_request", { problem })
}

interface Fitting {
  readonly found: ConversationView
  readonly named: NamedModel
  readonly mode: "read-only" | undefined
}

/** A conversation stays with its agent, and nobody's mode is changed by a header; another model is asked from now on. */
async function fit(c: Context<Env>, ports: OpenAiPorts, { found, named, mode }: Fitting): Promise<void> {
  const { id, agent, status } = found
  if (agent !== named.agent)
    throw failure("bad_request", { problem: `model: this conversation is with pawl/${agent}; begin another one.` })
  if (mode && found.mode !== mode)
    throw failure("bad_request", { problem: "X-Pawl-Writes: in this conversation writes wait; begin another one." })
  if (named.model === undefined) return
  const chosen = await chooseModel(c.get("caller"), ports, named.model)
  if (chosen.model === found.model) return
  if (status === "running") throw failure("busy", { id })
  await ports.runtime.submit(id, { type: "settings", ...chosen })
}
