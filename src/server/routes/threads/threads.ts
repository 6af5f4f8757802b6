import type { Context, Hono } from "hono"
import type { MessageInput } from "../../../agent/input.ts"
import { ThreadFrames } from "../../../dialects/thread-frames.ts"
import { toThread, toThreadModel, toThreadState } from "../../../dialects/threads.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { AppError, failure } from "../../../protocol/errors.ts"
import { type ConnectionId, isId, newId, type UserId } from "../../../protocol/ids.ts"
import type { Message } from "../../../protocol/conversation/message.ts"
import { routes } from "../../../protocol/routes/index.ts"
import type { ThreadFrame } from "../../../protocol/dialects/threads.ts"
import { spokenBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { chooseConnection, chooseModel, toBeginning } from "../../conversation/settings.ts"
import { openFor } from "../../stream/open-stream.ts"
import { findConversation } from "../../conversation/find.ts"
import { modelAnswer } from "../../conversation/named-models.ts"
import type { OwnedDatabases } from "../../conversation/ports.ts"
import type { StreamPorts } from "../../stream/ports.ts"
import { serveRoute } from "../../request/serve-route.ts"
import { readState } from "../../conversation/read-state.ts"
import { toDataStream } from "./data-stream.ts"
import { sayAndWatch } from "../../stream/say-and-watch.ts"

const AGENT = "analyst"
/** Messages of a thread that are shown, the newest; and how many are read at a time. */
const MAX_MESSAGES = 1000
const PAGE = 200

/** A thread shows what its database is made of beside the conversation. */
interface ThreadPorts extends StreamPorts {
  readonly databases: OwnedDatabases & {
    schema(
      request: { readonly user: UserId; readonly id: ConnectionId; readonly signal: AbortSignal },
      query: Record<never, never>,
    ): Promise<{ readonly markdown: string }>
  }
}

/** The thread dialect: the same conversations, in the words of an earlier design. */
export function threadRoutes(app: Hono<Env>, ports: ThreadPorts): void {
  const { runtime, journal, conversations } = ports

  serveRoute(app, routes.createThread, async (c, { body: { user_connection_id, model } }) => {
    const chosen = { agent: AGENT, connectionId: user_connection_id ?? undefined, model }
    const { id } = await runtime.begin(await toBeginning(c.get("caller"), ports, chosen))
    return { thread_id: id }
  })

  serveRoute(app, routes.readThread, async (c) => {
    const conversation = await findConversation(c, ports)
    return toThread(conversation, await newest(conversation))
  })

  serveRoute(app, routes.readThreadState, async (c) => {
    const conversation = await findConversation(c, ports)
    const { id, position } = conversation
    const state = await readState(journal, { id, user: userOf(c), at: position })
    const { model } = await modelAnswer(ports.models, { ...conversation, user: userOf(c) })
    return toThreadState(state, { model, schema: await schemaOf(c, conversation) })
  })

  serveRoute(app, routes.connectThread, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const connection_id = await connect(c, id, body.user_connection_id)
    return { thread_id: id, connection: { user_id: userOf(c), connection_id } }
  })

  serveRoute(app, routes.readThreadModel, async (c) => {
    return toThreadModel(await modelAnswer(ports.models, { ...(await findConversation(c, ports)), user: userOf(c) }))
  })

  serveRoute(app, routes.chooseThreadModel, async (c, { body: { model, name = model } }) => {
    const { id } = await findConversation(c, ports)
    if (name === undefined) throw failure("bad_request", { problem: "model: the name of a model is missing." })
    const chosen = await chooseModel(c.get("caller"), ports, name)
    await runtime.submit(id, { type: "settings", ...chosen })
    return toThreadModel(await modelAnswer(ports.models, { id, model: chosen.model, user: userOf(c) }))
  })

  serveRoute(app, routes.sendToThread, async (c, { body }) => {
    const { id, position } = await findConversation(c, ports)
    ports.streams.admit(c.get("caller"))
    const caller = c.get("caller")
    // A message that names none leaves the database as it was chosen. A run at work goes on with the one that it has.
    const { connectionId } = await chooseConnection(caller, ports, body.user_connection_id || undefined)
    const place = connectionId ? { place: { connectionId } } : {}
    const words = { type: "message", id: newId("msg", userOf(c)), text: body.text, when: "queue" } as const
    const message: MessageInput = { ...words, ...spokenBy(caller), ...place }
    const run = await sayAndWatch(ports, { id, position }, message)
    return c.body(toDataStream(openFor(c.get("caller"), ports, run), toThreadFrames()), 200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    })
  })

  async function connect(c: Context<Env>, id: ConversationView["id"], connection: string) {
    const { connectionId } = await chooseConnection(c.get("caller"), ports, connection)
    if (!connectionId) throw failure("not_found")
    await runtime.submit(id, { type: "settings", connectionId })
    return connectionId
  }

  async function newest({ id }: ConversationView): Promise<Message[]> {
    const found: Message[] = []
    while (found.length < MAX_MESSAGES) {
      const before = found[0]?.seq
      const { items } = await conversations.messages(id, { limit: PAGE, ...(before === undefined ? {} : { before }) })
      found.unshift(...items)
      if (items.length === 0 || items[0]?.seq === 1) break
    }
    return found
  }

  /** A database that does not answer is no reason to keep the rest back. */
  async function schemaOf(c: Context<Env>, { connectionId: id }: ConversationView): Promise<string | null> {
    if (id === null || !isId("conn", id)) return null
    try {
      const { markdown } = await ports.databases.schema({ user: userOf(c), id, signal: c.req.raw.signal }, {})
      return markdown
    } catch (error) {
      if (error instanceof AppError) return null
      throw error
    }
  }
}

function toThreadFrames(): (frame: Parameters<ThreadFrames["translate"]>[0]) => ThreadFrame[] {
  const frames = new ThreadFrames()
  return (frame) => frames.translate(frame)
}
