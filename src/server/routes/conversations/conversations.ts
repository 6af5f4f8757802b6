import type { Context, Hono } from "hono"
import { fork } from "../../../agent/fork.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure } from "../../../protocol/errors.ts"
import { withSettings } from "../../../protocol/conversation/with-settings.ts"
import { type MessageId, newId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { doneBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import {
  allowMode,
  chooseConnection,
  chooseFallback,
  chooseSite,
  chooseModel,
  toBeginning,
} from "../../conversation/settings.ts"
import { readMeter } from "../../conversation/context-meter.ts"
import { cutMessage } from "./cut-message.ts"
import { findConversation, messageOf } from "../../conversation/find.ts"
import { nameModel, nameModels } from "../../conversation/named-models.ts"
import type { ConversationRoutePorts } from "./ports.ts"
import { readState } from "../../conversation/read-state.ts"
import { serveRoute } from "../../request/serve-route.ts"

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
    const { items, ...beside } = await conversations.messages(id, { upTo: position, limit: NEWEST_MESSAGES })
    const [open, expired] = await Promise.all([proposals.open(id), proposals.lapsed(id, MAX_EXPIRED)])
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
      ...(model ? await chooseModel(caller, ports, model) : {}),
      ...(await chooseFallback(caller, ports, body.fallback)),
      ...(await chooseSite(caller, ports, body)),
      ...(await chooseConnection(caller, ports, body.connectionId)),
    }
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
    await runtime.submit(conversation.id, { type: "settings", ...given, ...(reply ? { settings: reply } : {}) })
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
    const forked = await fork(ports, id, position, { mayApprove, to })
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
