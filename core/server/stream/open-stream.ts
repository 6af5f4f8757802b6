import type { Context } from "hono"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { type Cursor, parseCursor } from "../../protocol/cursor.ts"
import { failure } from "../../protocol/errors.ts"
import { userOf } from "../auth/caller.ts"
import type { Env, Caller } from "../auth/credentials.ts"
import { STREAM_HEADERS, toEventStream, keepAliveOf, type ConnectionHooks } from "./event-stream.ts"
import type { FrameSource, OpenSource } from "./frame-source.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import { Subscription, type SubscriptionTarget } from "./subscription.ts"

/**
 * Throws if the store is unreachable. For streams that read when pulled: after their start no status can report an error.
 */
export async function requireStore(
  c: Context<Env>,
  { conversations }: Pick<StreamPorts, "conversations">,
): Promise<void> {
  await conversations.list(userOf(c), { limit: 1 })
}

/** A conversation from a cursor on. */
export async function subscribe(
  { journal, bus, clock, conversations }: Pick<StreamPorts, "journal" | "bus" | "clock" | "conversations">,
  watched: Omit<SubscriptionTarget, "runStart">,
): Promise<Subscription> {
  const runStart = await conversations.runStart(watched.id, watched.after.position)
  return new Subscription({ journal, bus, clock }, { ...watched, runStart })
}

/** Answers with the frames of a source until the client disconnects. */
export function streamFrames(c: Context<Env>, ports: StreamPorts, shown: FrameSource): Response {
  const source = registerStream(c.get("caller"), ports, shown)
  const pulse = keepAliveOf(ports.clock)
  const { hooks } = (c.env ?? {}) as { hooks?: ConnectionHooks }
  if (!hooks) return c.body(toEventStream(source, pulse), 200, STREAM_HEADERS)
  hooks.stream = { source, pulse }
  return c.body(null, 200, STREAM_HEADERS)
}

export const wantsStream = (c: Context<Env>): boolean =>
  (c.req.header("accept") ?? "").toLowerCase().includes("text/event-stream")

/** Parses the client's cursor. Throws `bad_request` if it is invalid or ahead of the conversation. */
export function toStreamCursor(text: string | undefined, { id, position }: ConversationView): Cursor {
  const cursor = parseCursor(text ?? "0")
  const known = `${id} has positions up to ${position}`
  if (!cursor) throw failure("bad_request", { problem: `after: "${text?.slice(0, 50)}" is no cursor; ${known}.` })
  if (cursor.position > position) throw failure("bad_request", { problem: `after: ${text} lies ahead; ${known}.` })
  return cursor
}

/** Counts a source among the open streams until it is closed. It ends when the credential is revoked. */
export function registerStream(caller: Caller, { streams, metrics }: StreamPorts, source: FrameSource): OpenSource {
  let open = true
  const opened: OpenSource = { user: caller.person.id, next: () => source.next(), close }
  const letGo = streams.register(caller, () => {
    close()
    opened.onEnded?.()
  })
  metrics.streams.add(1)
  return opened

  function close(): void {
    if (open) metrics.streams.add(-1)
    open = false
    letGo()
    source.close()
  }
}
