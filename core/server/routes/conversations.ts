import type { Context, Hono } from "hono"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import { withSettings } from "../../protocol/conversation/reply-settings.ts"
import { type MessageId, newId } from "../../protocol/ids.ts"
import { routes } from "../../protocol/routes/index.ts"
import { doneBy, userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import {
  allowMode,
  chooseConnection,
  chooseFallback,
  chooseSite,
  chooseAndRememberModel,
  toBeginning,
  nameModel,
  nameModels,
} from "../conversation/settings.ts"
import { readMeter } from "../conversation/context-meter.ts"
import { findConversation, messageOf, readState } from "../conversation/find.ts"
import type { ConversationRoutePorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { Message, Reasoning } from "../../protocol/conversation/message.ts"
import { wholeUnits } from "../stream/frame-maker.ts"
import type { FrameSource } from "../stream/event-stream.ts"
import { Feed } from "../stream/feed.ts"
import { demandStore, streamFrames, subscribe, toStreamCursor } from "../stream/open-stream.ts"

const NEWEST_MESSAGES = 50
const MAX_EXPIRED = 50

/** Beginning, finding, setting and forking conversations. */
export function conversationRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { runtime, journal, conversations, proposals, models } = ports

  serveRoute(app, routes.createConversation, async (c, { body }) => {
    const { id } = await runtime.begin(await toBeginning(c.get("caller"), ports, body))
    return reread(c, ports, id)
  })

  serveRoute(app, routes.listConversations, async (c, { query }) => {
    const page = await conversations.list(userOf(c), query)
    return { ...page, items: await nameModels(models, userOf(c), page.items) }
  })

  serveRoute(app, routes.readConversation, async (c) => {
    // The position is read first: whoever goes on from it may see something twice, but misses nothing.
    const conversation = await findConversation(c, ports)
    const { id, position, status } = conversation
    // Open proposals before settled ones: one that is settled in between is in both lists, and never in none.
    const open = await proposals.open(id)
    const { items, ...beside } = await conversations.messages(id, { upTo: position, limit: NEWEST_MESSAGES })
    const expired = await proposals.lapsed(id, MAX_EXPIRED)
    const handedOver = status === "awaiting_confirmation" ? await conversations.handedOver(id, position) : []
    const named = await nameModel(models, userOf(c), conversation)
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
    allowMode(caller, ports, mode)
    const settings = {
      title,
      mode,
      ...(model ? await chooseAndRememberModel(caller, ports, model) : {}),
      ...(await chooseFallback(caller, ports, body.fallback)),
      ...(await chooseSite(caller, ports, body)),
      ...(await chooseConnection(caller, ports, body.connectionId)),
    }
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
    await runtime.submit(conversation.id, {
      type: "settings",
      ...given,
      ...(reply ? { settings: reply } : {}),
      ...(mode && !caller.scopes.has("approve") ? { mayNotWiden: true } : {}),
    })
    // A conversation at work takes it over with its next step; it is durable now, so it is shown now.
    const { fallback: _, ...shown } = given // told with the model: `readModel`
    const now = await findConversation(c, ports)
    const changed = reply ? { settings: withSettings(now.settings ?? {}, reply) } : {}
    return nameModel(models, userOf(c), { ...now, ...shown, ...changed })
  })

  serveRoute(app, routes.compactConversation, async (c) => {
    const { id } = await findConversation(c, ports)
    await runtime.submit(id, { type: "compact", ...doneBy(c) })
    return nameModel(models, userOf(c), await findConversation(c, ports))
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

  /** Messages are named by their ids wherever they are shown; positions are the journal's own business. */
  async function placeBefore(id: ConversationView["id"], message: MessageId): Promise<number> {
    const place = await conversations.placeOf(id, message)
    if (typeof place !== "number") throw failure("not_found")
    return place - 1
  }
}

/** As the store shows it, which is how every other answer will show it too. */
async function reread(
  c: Context<Env>,
  ports: ConversationRoutePorts,
  id: ConversationView["id"],
): Promise<ConversationView> {
  const view = await ports.conversations.find(userOf(c), id)
  if (!view) throw new Error(`${id} was made and cannot be found`)
  return nameModel(ports.models, userOf(c), view)
}

/** Characters of a message that a list of messages shows; the message's own route gives all of them. */
const TOLD_CHARACTERS = 100_000

/** And of what was thought before it, which is folded away at first. */
const TOLD_REASONING = 20_000

/**
 * A message as lists tell it: of a long one its beginning, so that opening a conversation costs what a screen can show.
 * Results of tools are bounded where they are made.
 */
export function cutMessage(whole: Message): Message {
  const { role, content, reasoning } = whole
  const message = reasoning ? { ...whole, reasoning: cutReasoning(reasoning) } : whole
  if (role === "tool" || content.length <= TOLD_CHARACTERS) return message
  const beginning = content.slice(0, wholeUnits(content, TOLD_CHARACTERS))
  return { ...message, content: beginning, truncated: true, length: content.length }
}

function cutReasoning(reasoning: Reasoning): Reasoning {
  const { text } = reasoning
  if (text.length <= TOLD_REASONING) return reasoning
  return { ...reasoning, text: text.slice(0, wholeUnits(text, TOLD_REASONING)), truncated: true }
}

/** Watching a conversation. */
export function eventRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  serveRoute(app, routes.watchConversation, async (c, { query }) => {
    const conversation = await findConversation(c, ports)
    // A browser that reconnects by itself repeats the address it began with, and says in the header where it is now.
    const last = c.req.header("last-event-id")
    const after = toStreamCursor(last || query.after, conversation)
    return watched(c, ports, await subscribe(ports, { id: conversation.id, after, cutOff: Boolean(last) }))
  })

  serveRoute(app, routes.watchFeed, async (c) => {
    await demandStore(c, ports)
    return watched(c, ports, new Feed(ports, userOf(c)))
  })
}

/** A stream that does nothing but show: refused where there are too many, in the moment in which it would be counted. */
function watched(c: Context<Env>, ports: ConversationRoutePorts, source: FrameSource): Response {
  try {
    ports.streams.admit(c.get("caller"))
  } catch (error) {
    source.close()
    throw error
  }
  return streamFrames(c, ports, source)
}
