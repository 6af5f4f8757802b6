import type { UnknownFrame } from "../../protocol/frames.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import { ownRoutes } from "../../protocol/routes/own-routes.ts"
import { keyHeader, newKey } from "../calls.ts"
import type { FollowOptions } from "./follow.ts"
import { StreamPosition } from "./stream-position.ts"
import type { StreamSource } from "./stream.ts"
import { label } from "../transport.ts"

export interface WatchOptions extends FollowOptions {
  /** The cursor to go on after, such as a transcript's; from the beginning by default. */
  readonly after?: string
}

export interface RunOptions extends FollowOptions {
  readonly when?: "queue" | "steer" | "reject"
  readonly maxIterations?: number
  /** Where the person is now, such as `Europe/Berlin`. */
  readonly timeZone?: string
  /** How the model is to reply to this. */
  readonly settings?: ReplySettings
  /** Ids of files that were uploaded before. */
  readonly files?: readonly string[]
  /** A person is there who sees and can answer what a tool's server asks. */
  readonly attended?: boolean
  /** A JSON schema that the answer has to fit. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Made when it is not given. */
  readonly idempotencyKey?: string
}

export interface ClientStreams {
  /**
   * What happens in a conversation, each frame once and in order, for as long as it is iterated: connections that break
   * are replaced. Ends with an error when the server refuses (401, 403, 404 …), and with the signal's reason.
   */
  events(conversationId: string, options?: WatchOptions): AsyncGenerator<UnknownFrame, void, undefined>
  /** Says something and gives the frames of the run it starts, to its one `done` or `error`. */
  run(conversationId: string, text: string, options?: RunOptions): AsyncGenerator<UnknownFrame, void, undefined>
  /**
   * How a person's conversations stand: a `snapshot` on each connection, then each conversation that changes. Nothing
   * can be missed, so there is no cursor.
   */
  feed(options?: FollowOptions): AsyncGenerator<UnknownFrame, void, undefined>
}

/** What is watched: a conversation, or without an id the feed. */
export interface WatchTarget extends FollowOptions {
  readonly where: string
  readonly id?: string
  readonly place?: StreamPosition
  /** Where the place began. */
  readonly after?: string
  /** The message that has to be sent, again and again, until its run's first frame. */
  readonly speak?: StreamSource
}

/** How streams travel. */
export type FollowStream = (watched: WatchTarget) => AsyncGenerator<UnknownFrame, void, undefined>

/** About two minutes: long enough for a server to be started anew, short enough for somebody who waits. */
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
 * Says something and gives every frame of the run it starts, to its one `done` or `error`.
 *
 * Until the first frame the message itself is sent again, with its key, because nobody knows whether it arrived. From
 * then on it is safe, and a connection that breaks is replaced by the conversation's event stream from the last cursor.
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
    attended,
    schema,
    idempotencyKey = newKey(),
    tries = TRIES,
    ...following
  }: RunOptions = {},
): AsyncGenerator<UnknownFrame, void, undefined> {
  const body = { text, when, maxIterations, timeZone, settings, files, attended, schema }
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
