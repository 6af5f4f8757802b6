import type { Context, Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { findConversation } from "../../conversation/find.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"
import type { FrameSource } from "../../stream/event-stream.ts"
import { Feed } from "../../stream/feed.ts"
import { demandStore, streamFrames, subscribe, toStreamCursor } from "../../stream/open-stream.ts"
import type { ConversationRoutePorts } from "./ports.ts"

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
