import type { UnknownFrame } from "../../core/protocol/frames.ts"
import type { WorkFile } from "../../core/protocol/conversation/message.ts"
import type { ReplySettings } from "../../core/protocol/conversation/reply-settings.ts"
import { ownRoutes } from "../../core/protocol/routes/own-routes.ts"
import { keyHeader, newKey } from "../calls.ts"
import type { FollowOptions } from "./follow.ts"
import { StreamPosition } from "./stream-position.ts"
import type { StreamSource } from "./stream.ts"
import { label } from "../transport.ts"

/** Options for following a conversation: the position to start from, a signal to stop, and reconnection. */
export interface WatchOptions extends FollowOptions {
  /** The cursor to continue from, such as a transcript's. Default: the start of the conversation. */
  readonly after?: string
}

/**
 * Options for sending a message and following its run, such as reply settings, files, and what to do if a run is
 * active.
 */
export interface RunOptions extends FollowOptions {
  readonly when?: "queue" | "steer" | "reject"
  readonly maxIterations?: number
  /** The user's current time zone, such as `Europe/Berlin`. */
  readonly timeZone?: string
  /** Reply settings for this message. */
  readonly settings?: ReplySettings
  /** Ids of uploaded files. */
  readonly files?: readonly string[]
  /** The attached files that are in the work folder. */
  readonly workFiles?: readonly WorkFile[]
  /** True if a person is present to answer questions of MCP servers. */
  readonly attended?: boolean
  /** A JSON schema for the answer. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Generated if omitted. */
  readonly idempotencyKey?: string
}

/** The methods of a client that return streams, with automatic reconnection. */
export interface ClientStreams {
  /**
   * Yields the events of a conversation, each once and in order, and reconnects if the connection is lost. Throws if
   * the server rejects the request (401, 403, 404 …), or with the signal's reason.
   */
  events(conversationId: string, options?: WatchOptions): AsyncGenerator<UnknownFrame, void, undefined>
  /** Sends a message and yields the frames of its run, up to its `done` or `error`. */
  run(conversationId: string, text: string, options?: RunOptions): AsyncGenerator<UnknownFrame, void, undefined>
  /**
   * Yields a user's conversations: a `snapshot` on each connection, then each conversation that changes. It needs no
   * cursor, because the snapshot has the current state.
   */
  feed(options?: FollowOptions): AsyncGenerator<UnknownFrame, void, undefined>
}

/** The subject of a stream: a conversation or, without an id, the feed. */
export interface WatchTarget extends FollowOptions {
  readonly where: string
  readonly id?: string
  readonly place?: StreamPosition
  /** The cursor that the stream started from. */
  readonly after?: string
  /** A message to send, with retries, until the first frame of its run. */
  readonly speak?: StreamSource
}

/** Opens a stream on the client's transport. */
export type FollowStream = (watched: WatchTarget) => AsyncGenerator<UnknownFrame, void, undefined>

/** About two minutes: long enough for a server to restart, short enough for a user who waits. */
const TRIES = 10

export function createStreams(follow: FollowStream): ClientStreams {
  return {
    events(id, { after = "0", ...following } = {}) {
      const where = label("watchConversation", ownRoutes.watchConversation)
      return follow({ ...following, where, id, after, place: new StreamPosition(where, after) })
    },
    run: (id, text, options) => run(follow, { id, text }, options),
    feed: (following) => follow({ ...following, where: label("watchFeed", ownRoutes.watchFeed) }),
  }
}

/**
 * Sends a message and yields every frame of its run, up to its `done` or `error`.
 *
 * Until the first frame, the message itself is sent again with its key, because it may not have arrived. After that, a
 * lost connection is replaced by the conversation's event stream from the last cursor.
 */
async function* run(
  follow: FollowStream,
  { id, text }: { readonly id: string; readonly text: string },
  {
    when,
    maxIterations,
    timeZone,
    settings,
    files,
    workFiles,
    attended,
    schema,
    idempotencyKey = newKey(),
    tries = TRIES,
    ...following
  }: RunOptions = {},
): AsyncGenerator<UnknownFrame, void, undefined> {
  const body = { text, when, maxIterations, timeZone, settings, files, workFiles, attended, schema }
  const speak: StreamSource = {
    name: "sendMessage",
    route: ownRoutes.sendMessage,
    sent: { params: { id }, body, headers: keyHeader(idempotencyKey) },
  }
  const where = label(speak.name, speak.route)
  for await (const frame of follow({ ...following, tries, where, id, speak, place: new StreamPosition(where) })) {
    yield frame
    if (frame.type === "done" || frame.type === "error") return
  }
}
