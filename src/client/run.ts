import type { UnknownFrame } from "../protocol/frames.ts"
import { routes } from "../protocol/routes/index.ts"
import { keyHeader, newKey } from "./calls.ts"
import { follow, type FollowOptions } from "./follow.ts"
import { Place } from "./place.ts"
import type { StreamSource } from "./stream.ts"
import { label, type Transport } from "./transport.ts"

export interface RunOptions extends FollowOptions {
  readonly when?: "queue" | "steer" | "reject"
  readonly maxIterations?: number
  /** Made when it is not given. */
  readonly idempotencyKey?: string
}

/** About two minutes: long enough for a server to be started anew, short enough for somebody who waits. */
const TRIES = 10

/**
 * Says something and gives every frame of the run it starts, to its one `done` or `error`.
 *
 * Until the first frame the message itself is sent again, with its key, because nobody knows whether it arrived. From
 * then on it is safe, and a connection that breaks is replaced by the conversation's event stream from the last cursor.
 */
export async function* run(
  transport: Transport,
  conversation: { readonly id: string; readonly text: string },
  options: RunOptions = {},
): AsyncGenerator<UnknownFrame, void, undefined> {
  const { when, maxIterations, idempotencyKey = newKey(), tries = TRIES, signal, onState } = options
  const params = { id: conversation.id }
  const body = { text: conversation.text, when, maxIterations }
  const speak: StreamSource = {
    name: "sendMessage",
    route: routes.sendMessage,
    sent: { params, body, headers: keyHeader(idempotencyKey), signal },
  }
  const place = new Place(label(speak.name, speak.route))
  const source = () => (place.cursor === undefined ? speak : watchOn(params, place.cursor, signal))
  for await (const frame of follow(transport, { source, place, tries, signal, onState })) {
    yield frame
    if (frame.type === "done" || frame.type === "error") return
  }
}

type Params = { readonly id: string }

/** The event stream after a cursor that the caller had from somewhere. */
export const watchFrom = (params: Params, after: string, signal?: AbortSignal): StreamSource => ({
  ...WATCH,
  sent: { params, query: { after }, signal },
})

/**
 * The event stream after the last frame seen, for one who was cut off: where that was the last row of a run, the server
 * says its `done` again, which has no cursor of its own to tell whether it was heard.
 */
export const watchOn = (params: Params, last: string, signal?: AbortSignal): StreamSource => ({
  ...WATCH,
  sent: { params, headers: { "last-event-id": last }, signal },
})

const WATCH = { name: "watchConversation", route: routes.watchConversation } as const
