import type { Context, Hono } from "hono"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import { withSettings } from "../../protocol/conversation/reply-settings.ts"
import { type MessageId, newId } from "../../protocol/ids.ts"
import { routes } from "../../protocol/routes/index.ts"
import { actorOf, userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import {
  requireModeAllowed,
  chooseConnection,
  chooseFallback,
  chooseSite,
  chooseAndRememberModel,
  toConversationStart,
  withDefaultModel,
  withDefaultModels,
} from "../conversation/settings.ts"
import { readMeter } from "../conversation/context-meter.ts"
import { findConversation, messageOf, readState } from "../conversation/find.ts"
import type { ConversationRoutePorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { Message, Reasoning } from "../../protocol/conversation/message.ts"
import { wholeUnits } from "../stream/frame-maker.ts"
import type { FrameSource } from "../stream/frame-source.ts"
import { Feed } from "../stream/feed.ts"
import { requireStore, streamFrames, subscribe, toStreamCursor } from "../stream/open-stream.ts"

const NEWEST_MESSAGES = 50
const MAX_EXPIRED = 50

export function conversationRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { runtime, journal, conversations, proposals, models } = ports

  serveRoute(app, routes.createConversation, async (c, { body }) => {
    const { id } = await runtime.begin(await toConversationStart(c.get("caller"), ports, body))
    return reread(c, ports, id)
  })

  serveRoute(app, routes.listConversations, async (c, { query }) => {
    const page = await conversations.list(userOf(c), query)
    return { ...page, items: await withDefaultModels(models, userOf(c), page.items) }
  })

  serveRoute(app, routes.readConversation, async (c) => {
    // The position is read first: a client that continues from it may see an event twice, but misses none.
    const conversation = await findConversation(c, ports)
    const { id, position, status } = conversation
    // Open proposals before settled ones: a proposal that is settled in between appears in both lists, never in neither.
    const open = await proposals.open(id)
    const { items, ...beside } = await conversations.messages(id, { upTo: position, limit: NEWEST_MESSAGES })
    const expired = await proposals.lapsed(id, MAX_EXPIRED)
    const handedOver = status === "awaiting_confirmation" ? await conversations.handedOver(id, position) : []
    const named = await withDefaultModel(models, userOf(c), conversation)
    const context = await readMeter(ports, userOf(c), { ...named, newest: items })
    return { ...named, messages: items.map(cutMessage), ...beside, proposals: open, expired, handedOver, context }
  })

  serveRoute(app, routes.readMessages, async (c, { query: { before, limit } }) => {
    const { id } = await findConversation(c, ports)
    const { items, ...beside } = await conversations.messages(id, { before, limit })
    const first = items[0]?.seq ?? 1
    return { items: items.map(cutMessage), ...beside, nextBefore: first > 1 ? first : null }
  })

  serveRoute(app, routes.readMessage, async (c) => {
    const { id } = await findConversation(c, ports)
    const message = await conversations.message(id, messageOf(c))
    if (!message) throw failure("not_found")
    return message
  })

  serveRoute(app, routes.changeConversation, async (c, { body }) => {
    const conversation = await findConversation(c, ports)
    const { title, mode, model, settings: reply } = body
    const caller = c.get("caller")
    requireModeAllowed(caller, ports, mode)
    const settings = {
      title,
      mode,
      ...(model ? await chooseAndRememberModel(caller, ports, model) : {}),
      ...(await chooseFallback(caller, ports, body.fallback)),
      ...(await chooseSite(caller, ports, body)),
      ...(await chooseConnection(caller, ports, body.connectionId)),
    }
    const definedSettings = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
    await runtime.submit(conversation.id, {
      type: "settings",
      ...definedSettings,
      ...(reply ? { settings: reply } : {}),
      ...(mode && !caller.scopes.has("approve") ? { mayNotWiden: true } : {}),
    })
    // A running conversation applies it with its next step. It is durable already, so the answer shows it.
    const { fallback: _, ...shown } = definedSettings // shown by `readModel`
    const now = await findConversation(c, ports)
    const changed = reply ? { settings: withSettings(now.settings ?? {}, reply) } : {}
    return withDefaultModel(models, userOf(c), { ...now, ...shown, ...changed })
  })

  serveRoute(app, routes.compactConversation, async (c) => {
    const { id } = await findConversation(c, ports)
    await runtime.submit(id, { type: "compact", ...actorOf(c) })
    return withDefaultModel(models, userOf(c), await findConversation(c, ports))
  })

  serveRoute(app, routes.readState, async (c, { query }) => {
    const { id, position } = await findConversation(c, ports)
    const at = query.at ?? position
    if (at > position) throw failure("bad_request", { problem: `at: ${id} has positions 1 to ${position}.` })
    return readState(journal, { id, user: userOf(c), at })
  })

  serveRoute(app, routes.forkConversation, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const position = "before" in body ? await placeBefore(id, body.before) : body.position
    const mayApprove = c.get("caller").scopes.has("approve")
    const to = newId("conv", userOf(c), ports.clock.now())
    await ports.messageFiles.shareUses(userOf(c), id, to)
    const forked = await runtime.fork(id, position, { mayApprove, to })
    return reread(c, ports, forked.id)
  })

  /** Clients name messages by id; positions are internal to the journal. */
  async function placeBefore(id: ConversationView["id"], message: MessageId): Promise<number> {
    const place = await conversations.placeOf(id, message)
    if (typeof place !== "number") throw failure("not_found")
    return place - 1
  }
}

/** The conversation as the store returns it, like every later answer. */
async function reread(
  c: Context<Env>,
  ports: ConversationRoutePorts,
  id: ConversationView["id"],
): Promise<ConversationView> {
  const view = await ports.conversations.find(userOf(c), id)
  if (!view) throw new Error(`${id} was made and cannot be found`)
  return withDefaultModel(ports.models, userOf(c), view)
}

/** Most characters of a message in a list; the message's own route returns all. */
const MAX_LISTED_CHARACTERS = 100_000

/** The same for reasoning, which is collapsed at first. */
const MAX_LISTED_REASONING = 20_000

/**
 * A message for lists: a long one is cut, so that opening a conversation costs what a screen can show. Tool results are
 * already bounded.
 */
function cutMessage(whole: Message): Message {
  const { role, content, reasoning } = whole
  const message = reasoning ? { ...whole, reasoning: cutReasoning(reasoning) } : whole
  if (role === "tool" || content.length <= MAX_LISTED_CHARACTERS) return message
  const beginning = content.slice(0, wholeUnits(content, MAX_LISTED_CHARACTERS))
  return { ...message, content: beginning, truncated: true, length: content.length }
}

function cutReasoning(reasoning: Reasoning): Reasoning {
  const { text } = reasoning
  if (text.length <= MAX_LISTED_REASONING) return reasoning
  return { ...reasoning, text: text.slice(0, wholeUnits(text, MAX_LISTED_REASONING)), truncated: true }
}

export function eventRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  serveRoute(app, routes.watchConversation, async (c, { query }) => {
    const conversation = await findConversation(c, ports)
    // A browser that reconnects repeats the original address and sends its current cursor in the header.
    const last = c.req.header("last-event-id")
    const after = toStreamCursor(last || query.after, conversation)
    return watched(c, ports, await subscribe(ports, { id: conversation.id, after, cutOff: Boolean(last) }))
  })

  serveRoute(app, routes.watchFeed, async (c) => {
    await requireStore(c, ports)
    return watched(c, ports, new Feed(ports, userOf(c)))
  })
}

/** A stream without a request to the agent. Refused if too many are open. */
function watched(c: Context<Env>, ports: ConversationRoutePorts, source: FrameSource): Response {
  try {
    ports.streams.admit(c.get("caller"))
  } catch (error) {
    source.close()
    throw error
  }
  return streamFrames(c, ports, source)
}
