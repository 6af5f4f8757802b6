import { type Context, Hono } from "hono"
import { fork } from "../agent/fork.ts"
import type { ConversationDetail, MessagePage } from "../protocol/answers.ts"
import type { ConversationView } from "../protocol/conversation.ts"
import { failure } from "../protocol/errors.ts"
import {
  ConversationPatch,
  ForkPoint,
  MessageQuery,
  NewConversation,
  PageQuery,
  StateQuery,
} from "../protocol/requests.ts"
import { type Env, needs, userOf } from "./caller.ts"
import { allowMode, chooseModel } from "./choices.ts"
import { findConversation } from "./find.ts"
import { readBody, readQuery } from "./input.ts"
import type { ServerPorts } from "./ports.ts"
import { readState } from "./state.ts"

const DEFAULT_AGENT = "workspace"
const NEWEST_MESSAGES = 50

/** Beginning, finding, setting and forking conversations. */
export function conversationRoutes(ports: ServerPorts): Hono<Env> {
  const { runtime, conversations, proposals } = ports
  const app = new Hono<Env>()

  app.post("/conversations", needs("chat"), async (c) => {
    const { agent, model, mode, title, ...place } = await readBody(c, NewConversation)
    refusePlaces(place)
    allowMode(c, ports, mode)
    const chosen = model ? await chooseModel(ports, model) : {}
    const beginning = { user: userOf(c), agent: agent ?? DEFAULT_AGENT, mode: mode ?? undefined, title, ...chosen }
    const { id } = await runtime.begin(beginning)
    return c.json(await reread(c, ports, id), 201)
  })

  app.get("/conversations", needs("read"), async (c) => {
    return c.json(await conversations.list(userOf(c), readQuery(c, PageQuery)))
  })

  app.get("/conversations/:id", needs("read"), async (c) => {
    // The position is read first: whoever goes on from it may see something twice, but misses nothing.
    const conversation = await findConversation(c, ports)
    const { id, position } = conversation
    const messages = await conversations.messages(id, { upTo: position, limit: NEWEST_MESSAGES })
    const detail: ConversationDetail = { ...conversation, messages, proposals: await proposals.open(id) }
    return c.json(detail)
  })

  app.get("/conversations/:id/messages", needs("read"), async (c) => {
    const { id } = await findConversation(c, ports)
    const { before, limit } = readQuery(c, MessageQuery)
    const items = await conversations.messages(id, { before, limit })
    const first = items[0]?.seq ?? 1
    const page: MessagePage = { items, nextBefore: items.length === limit && first > 1 ? first : null }
    return c.json(page)
  })

  app.patch("/conversations/:id", needs("chat"), async (c) => {
    const conversation = await findConversation(c, ports)
    const { title, mode, model } = await readBody(c, ConversationPatch)
    allowMode(c, ports, mode)
    const settings = { title, mode, ...(model ? await chooseModel(ports, model) : {}) }
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
    await runtime.submit(conversation.id, { type: "settings", ...given })
    // A conversation at work takes it over with its next step; it is durable now, so it is shown now.
    const changed: ConversationView = { ...(await findConversation(c, ports)), ...given }
    return c.json(changed)
  })

  app.get("/conversations/:id/state", needs("read"), async (c) => {
    const { id, position } = await findConversation(c, ports)
    const { at = position } = readQuery(c, StateQuery)
    if (at > position) throw failure("bad_request", { problem: `at: ${id} has positions 1 to ${position}.` })
    return c.json(await readState(runtime.ports.journal, { id, user: userOf(c), at }))
  })

  app.post("/conversations/:id/fork", needs("chat"), async (c) => {
    const { id } = await findConversation(c, ports)
    const { position } = await readBody(c, ForkPoint)
    const forked = await fork(runtime.ports, id, position)
    return c.json(await reread(c, ports, forked.id), 201)
  })

  return app
}

/** As the store shows it, which is how every other answer will show it too. */
async function reread(c: Context<Env>, ports: ServerPorts, id: ConversationView["id"]): Promise<ConversationView> {
  const view = await ports.conversations.find(userOf(c), id)
  if (!view) throw new Error(`${id} was made and cannot be found`)
  return view
}

/** Fields of the contract that this server has nothing to serve with: silence would pass for agreement. */
function refusePlaces({
  connectionId,
  site,
  deviceId,
}: Partial<Record<"connectionId" | "site" | "deviceId", string | null>>): void {
  const field = connectionId ? "connectionId" : deviceId ? "deviceId" : site === "device" ? "site" : undefined
  if (field) throw failure("bad_request", { problem: `${field}: this server has no connections and no devices.` })
}
