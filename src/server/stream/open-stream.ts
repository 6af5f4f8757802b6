import type { Context, Hono } from "hono"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { type Cursor, parseCursor } from "../../protocol/cursor.ts"
import { failure } from "../../protocol/errors.ts"
import { routes } from "../../protocol/routes/index.ts"
import { type Env, userOf } from "../door/caller.ts"
import { type FrameSource, STREAM_HEADERS, toEventStream } from "./event-stream.ts"
import { Feed } from "./feed.ts"
import { findConversation } from "../conversation/find.ts"
import type { Caller, ServerPorts } from "../ports.ts"
import { pulseOf } from "./keep-alive.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { Takeover } from "./write-event-stream.ts"
import { Subscription, type Watched } from "./subscription.ts"

/** Watching a conversation. */
export function eventRoutes(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.watchConversation, async (c, { query }) => {
    const conversation = await findConversation(c, ports)
    // A browser that reconnects by itself repeats the address it began with, and says in the header where it is now.
    const last = c.req.header("last-event-id")
    const after = toPlace(last || query.after, conversation)
    return watched(c, ports, await subscribe(ports, { id: conversation.id, after, cutOff: Boolean(last) }))
  })

  serveRoute(app, routes.watchFeed, async (c) => {
    await demandStore(c, ports)
    return watched(c, ports, new Feed(ports, userOf(c)))
  })
}

/** Before a stream begins that reads only as it is pulled: once it has begun, no status can say that nothing can be read. */
export async function demandStore(c: Context<Env>, { conversations }: ServerPorts): Promise<void> {
  await conversations.list(userOf(c), { limit: 1 })
}

/** Everything of a conversation from a cursor on. */
export async function subscribe(
  { runtime, conversations }: Pick<ServerPorts, "runtime" | "conversations">,
  watched: Omit<Watched, "runStart">,
): Promise<Subscription> {
  const runStart = await conversations.runStart(watched.id, watched.after.position)
  return new Subscription(runtime.ports, { ...watched, runStart })
}

/** A stream that does nothing but show: refused where there are too many, in the moment in which it would be counted. */
function watched(c: Context<Env>, ports: ServerPorts, source: FrameSource): Response {
  try {
    ports.streams.admit(c.get("caller"))
  } catch (error) {
    source.close()
    throw error
  }
  return stream(c, ports, source)
}

/** Answers with the frames of a source, for as long as somebody listens. */
export function stream(c: Context<Env>, ports: ServerPorts, shown: FrameSource): Response {
  const source = openFor(c.get("caller"), ports, shown)
  const pulse = pulseOf(ports.runtime.ports.clock)
  const { line } = (c.env ?? {}) as { line?: Takeover }
  if (!line) return c.body(toEventStream(source, pulse), 200, STREAM_HEADERS)
  line.stream = { source, pulse }
  return c.body(null, 200, STREAM_HEADERS)
}

export const wantsStream = (c: Context<Env>): boolean =>
  (c.req.header("accept") ?? "").toLowerCase().includes("text/event-stream")

/** What a cursor of the caller's says about a conversation, or why it cannot. */
export function toPlace(text: string | undefined, { id, position }: ConversationView): Cursor {
  const cursor = parseCursor(text ?? "0")
  const known = `${id} has positions up to ${position}`
  if (!cursor) throw failure("bad_request", { problem: `after: "${text?.slice(0, 50)}" is no cursor; ${known}.` })
  if (cursor.position > position) throw failure("bad_request", { problem: `after: ${text} lies ahead; ${known}.` })
  return cursor
}

/** Counts a source among the open streams until it is closed. Whoever loses the right to look does not look on. */
export function openFor(caller: Caller, { streams, metrics }: ServerPorts, source: FrameSource): FrameSource {
  let open = true
  const letGo = streams.register(caller, close)
  metrics.streams.add(1)
  return { next: () => source.next(), close }

  function close(): void {
    if (open) metrics.streams.add(-1)
    open = false
    letGo()
    source.close()
  }
}
