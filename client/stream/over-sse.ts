import type { UnknownFrame } from "../../core/protocol/frames.ts"
import { ownRoutes } from "../../core/protocol/routes/own-routes.ts"
import { unexpected } from "../client-error.ts"
import { followStream, type FrameConnection } from "./follow.ts"
import type { StreamEvent } from "./sse-parser.ts"
import { type OpenStream, openStream, type StreamSource } from "./stream.ts"
import type { FollowStream, WatchTarget } from "./streams.ts"
import { label, type Transport } from "../transport.ts"

/** Streams over server-sent events, each with its own connection. */
export function overSse(transport: Transport): FollowStream {
  return (watched) =>
    followStream(transport, { ...watched, open: () => openFrames(transport, nextSource(watched), watched.signal) })
}

/** The request that continues after the last frame. */
function nextSource({ id, place, after, speak }: WatchTarget): StreamSource {
  if (id === undefined) return { name: "watchFeed", route: ownRoutes.watchFeed, sent: {} }
  const cursor = place?.cursor
  if (speak && cursor === undefined) return speak
  return cursor === after ? watchFrom(id, after) : watchOn(id, cursor)
}

/** The event stream after the caller's cursor. */
const watchFrom = (id: string, after: string | undefined): StreamSource => ({
  ...WATCH,
  sent: { params: { id }, query: { after } },
})

/**
 * The event stream after the last received frame. If that was the last event of a run, the server repeats its `done`, which
 * has no cursor of its own.
 */
const watchOn = (id: string, last: string | undefined): StreamSource => ({
  ...WATCH,
  sent: { params: { id }, headers: { "last-event-id": last ?? "0" } },
})

const WATCH = { name: "watchConversation", route: ownRoutes.watchConversation } as const

/** The frames of one request. */
export async function openFrames(
  transport: Transport,
  source: StreamSource,
  signal?: AbortSignal,
): Promise<FrameConnection> {
  const stream = await connect(transport, { ...source, sent: { ...source.sent, signal } })
  return { frames: framesOf(stream, source), retryMs: () => stream.retryMs(), close: () => stream.close() }
}

async function connect(transport: Transport, source: StreamSource): Promise<OpenStream> {
  const opened = await openStream(transport, source)
  if ("events" in opened) return opened
  const type = opened.headers.get("content-type") ?? "nothing"
  opened.body?.cancel().catch(() => {}) // it is not read
  throw unexpected(label(source.name, source.route), `status ${opened.status} with ${type} where a stream was expected`)
}

async function* framesOf({ events }: OpenStream, source: StreamSource): AsyncGenerator<UnknownFrame, void, undefined> {
  for await (const event of events) yield toFrame(event, source)
}

function toFrame({ id, type, data }: StreamEvent, { name, route }: StreamSource): UnknownFrame {
  try {
    return { id, type, data: JSON.parse(data) as unknown }
  } catch (cause) {
    throw unexpected(label(name, route), `the data of a ${type} is not JSON`, { cause })
  }
}
