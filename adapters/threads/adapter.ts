import type { Context, Hono } from "hono"
import {
  type MessageInput,
  spokenBy,
  userOf,
  type Env,
  chooseAndRememberModel,
  chooseConnection,
  toBeginning,
  openFor,
  findConversation,
  modelAnswer,
  type Adapter,
  type ServerPorts,
  serveRoute,
  readState,
  sayAndWatch,
  type FrameSource,
} from "../../core/adapter.ts"
import { ThreadFrames } from "./thread-frames.ts"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import { AppError, failure } from "../../core/protocol/errors.ts"
import { isId, newId } from "../../core/protocol/ids.ts"
import type { Message } from "../../core/protocol/conversation/message.ts"
import { routes } from "../../core/protocol/routes/index.ts"
import type { ThreadFrame, ThreadAnswer, ThreadModel, ThreadState } from "../../core/protocol/dialects/threads.ts"
import type { ModelAnswer, StateAnswer } from "../../core/protocol/answers.ts"
import { SqlResultState } from "../../core/protocol/databases/connections.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"

const AGENT = "analyst"
/** Messages of a thread that are shown, the newest; and how many are read at a time. */
const MAX_MESSAGES = 1000
/** Of these together; older ones are left out. */
const MAX_CHARACTERS = 1_000_000
const PAGE = 200

/** The thread API of earlier clients over the same conversations. Its routes are under `/api`. */
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
    const chosen = await chooseAndRememberModel(c.get("caller"), ports, name)
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
    for (let characters = 0; found.length < MAX_MESSAGES && characters < MAX_CHARACTERS;) {
      const before = found[0]?.seq
      const { items } = await conversations.messages(id, { limit: PAGE, ...(before === undefined ? {} : { before }) })
      found.unshift(...items)
      characters += items.reduce((sum, { content }) => sum + content.length, 0)
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

/**
 * The paths that the first clients of the thread API use, without `/api` before them: `/chat` for conversations and
 * `/connections` for the databases they are about. In everything else the request is the one under `/api`, so that who may
 * ask, how often and for what is decided in one place.
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

/** A conversation as a thread: who said what, without calls and their results. */
export function toThread({ id, createdAt }: ConversationView, messages: readonly Message[]): ThreadAnswer {
  const said = messages.flatMap(({ role, content, createdAt: timestamp }) => {
    return role === "tool" || content === "" ? [] : [{ sender: role, text: content, timestamp }]
  })
  return { thread_id: id, created_at: createdAt, messages: said }
}

interface Told {
  readonly model: string | null
  readonly schema: string | null
}

export function toThreadState(state: StateAnswer, { model, schema }: Told): ThreadState {
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

export const toThreadModel = ({ conversationId, model, models }: ModelAnswer): ThreadModel => ({
  thread_id: conversationId,
  model,
  models,
})

const encoder = new TextEncoder()

/** `data:` lines and nothing else, not even comments: clients of the dialect take every line for one. */
export function toDataStream(
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
