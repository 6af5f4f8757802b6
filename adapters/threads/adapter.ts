import type { Context, Hono } from "hono"
import {
  type Adapter,
  chooseAndRememberModel,
  chooseConnection,
  type Env,
  findConversation,
  type FrameSource,
  type MessageInput,
  readState,
  registerStream,
  sendAndWatch,
  senderFields,
  serveRoute,
  type ServerPorts,
  SqlResultState,
  type ThreadAnswer,
  type ThreadFrame,
  type ThreadModel,
  type ThreadState,
  toConversationStart,
  toModelAnswer,
  userOf,
} from "../../core/adapter.ts"
import {
  AppError,
  type ConversationView,
  failure,
  isId,
  type Message,
  type ModelAnswer,
  newId,
  routes,
  type StateAnswer,
  type UnknownFrame,
} from "../../core/protocol/index.ts"
import { ThreadFrames } from "./thread-frames.ts"

const AGENT = "analyst"
/** Most messages of a thread, the newest; and how many are read at a time. */
const MAX_MESSAGES = 1000
/** Most characters of them; older ones are omitted. */
const MAX_CHARACTERS = 1_000_000
const PAGE = 200

/** The thread API of earlier clients. Its routes are under `/api`. */
export const threadsAdapter: Adapter = {
  paths: [],
  serve: serveThreads,
  forward(app, { threadPaths }) {
    if (threadPaths) serveThreadPaths(app)
  },
}

function serveThreads(app: Hono<Env>, ports: ServerPorts): void {
  const { runtime, journal, conversations } = ports

  serveRoute(app, routes.createThread, async (c, { body: { user_connection_id, model } }) => {
    const chosen = { agent: AGENT, connectionId: user_connection_id ?? undefined, model }
    const { id } = await runtime.begin(await toConversationStart(c.get("caller"), ports, chosen))
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
    const { model } = await toModelAnswer(ports.models, { ...conversation, user: userOf(c) })
    return toThreadState(state, { model, schema: await schemaOf(c, conversation) })
  })

  serveRoute(app, routes.connectThread, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const connection_id = await connect(c, id, body.user_connection_id)
    return { thread_id: id, connection: { user_id: userOf(c), connection_id } }
  })

  serveRoute(app, routes.readThreadModel, async (c) => {
    return toThreadModel(await toModelAnswer(ports.models, { ...(await findConversation(c, ports)), user: userOf(c) }))
  })

  serveRoute(app, routes.chooseThreadModel, async (c, { body: { model, name = model } }) => {
    const { id } = await findConversation(c, ports)
    if (name === undefined) throw failure("bad_request", { problem: "model: the name of a model is missing." })
    const chosen = await chooseAndRememberModel(c.get("caller"), ports, name)
    await runtime.submit(id, { type: "settings", ...chosen })
    return toThreadModel(await toModelAnswer(ports.models, { id, model: chosen.model, user: userOf(c) }))
  })

  serveRoute(app, routes.sendToThread, async (c, { body }) => {
    const { id, position } = await findConversation(c, ports)
    ports.streams.admit(c.get("caller"))
    const caller = c.get("caller")
    // Without a database the message keeps the chosen one. A running run keeps its own.
    const { connectionId } = await chooseConnection(caller, ports, body.user_connection_id || undefined)
    const place = connectionId ? { place: { connectionId } } : {}
    const newMessage = { type: "message", id: newId("msg", userOf(c)), text: body.text, when: "queue" } as const
    const message: MessageInput = { ...newMessage, ...senderFields(caller), ...place }
    const run = await sendAndWatch(ports, { id, position }, message)
    return c.body(toDataStream(registerStream(c.get("caller"), ports, run), toThreadFrames()), 200, {
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
    for (let characters = 0; found.length < MAX_MESSAGES && characters < MAX_CHARACTERS;) {
      const before = found[0]?.seq
      const { items } = await conversations.messages(id, { limit: PAGE, ...(before === undefined ? {} : { before }) })
      found.unshift(...items)
      characters += items.reduce((sum, { content }) => sum + content.length, 0)
      if (items.length === 0 || items[0]?.seq === 1) break
    }
    return found
  }

  /** An unavailable database does not fail the request. */
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

/**
 * The paths of the first clients without `/api`: `/chat` for conversations and `/connections` for databases. The request is
 * forwarded to the path under `/api`, so that authentication and limits are applied in one place.
 */
function serveThreadPaths(app: Hono<Env>): void {
  const serve = (c: Context<Env>) => {
    const url = new URL(c.req.url)
    url.pathname = `/api${url.pathname}`
    const { method, headers, body, signal } = c.req.raw
    const sent = body ? { body, duplex: "half" } : {}
    return app.fetch(new Request(url, { method, headers, signal, ...sent } as RequestInit), c.env)
  }
  for (const path of ["/chat/*", "/connections", "/connections/*"]) app.all(path, serve)
}

/** A conversation as a thread: messages without calls and results. */
function toThread({ id, createdAt }: ConversationView, messages: readonly Message[]): ThreadAnswer {
  const shown = messages.flatMap(({ role, content, createdAt: timestamp }) => {
    return role === "tool" || content === "" ? [] : [{ sender: role, text: content, timestamp }]
  })
  return { thread_id: id, created_at: createdAt, messages: shown }
}

interface Told {
  readonly model: string | null
  readonly schema: string | null
}

function toThreadState(state: StateAnswer, { model, schema }: Told): ThreadState {
  const { data } = SqlResultState.safeParse(state.sqlResult)
  const { connection } = state
  return {
    thread_id: state.conversationId,
    model_name: model,
    db_schema: schema,
    connection: connection && { user_id: connection.userId, connection_id: connection.connectionId },
    sql_result: data ? JSON.stringify(toResult(data)) : null,
  }
}

const toResult = (data: SqlResultState) => ({
  sql: data.sql,
  columns: data.columns,
  rows: data.rows,
  row_count: data.rowCount,
  truncated: data.truncated,
  result_id: data.resultId,
  connection_id: data.connectionId,
})

const toThreadModel = ({ conversationId, model, models }: ModelAnswer): ThreadModel => ({
  thread_id: conversationId,
  model,
  models,
})

const encoder = new TextEncoder()

/** Only `data:` lines, no comments: these clients parse every line as data. */
function toDataStream(
  source: FrameSource,
  translate: (frame: UnknownFrame) => readonly object[],
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const frames = await source.next()
          if (!frames) {
            source.close()
            return controller.close()
          }
          const lines = frames.flatMap(translate).map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
          if (lines.length > 0) return controller.enqueue(encoder.encode(lines.join("")))
        }
      } catch (error) {
        source.close()
        throw error
      }
    },
    cancel: () => source.close(),
  })
}
