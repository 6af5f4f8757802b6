import type { UnknownFrame } from "../protocol/frames.ts"
import { routes } from "../protocol/routes/index.ts"
import { type Calls, createCalls } from "./calls.ts"
import { follow, type FollowOptions } from "./follow.ts"
import { Place } from "./place.ts"
import { run, type RunOptions, watchFrom, watchOn } from "./run.ts"
import { type ClientOptions, label, Transport } from "./transport.ts"

export interface WatchOptions extends FollowOptions {
  /** The cursor to go on after, such as a transcript's; from the beginning by default. */
  readonly after?: string
}

export interface Streams {
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

/** Pawl's server as typed methods: one for each route that answers once, and the streams. */
export type Client = Calls & Streams

export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options)
  return {
    ...createCalls(transport),

    events(id, { after = "0", ...following } = {}) {
      const begin = watchFrom({ id }, after, following.signal)
      const place = new Place(label(begin.name, begin.route), after)
      const source = () => {
        const { cursor = after } = place
        return cursor === after ? begin : watchOn({ id }, cursor, following.signal)
      }
      return follow(transport, { ...following, place, source })
    },

    run: (id, text, running) => run(transport, { id, text }, running),

    feed(following = {}) {
      const feed = { name: "watchFeed", route: routes.watchFeed, sent: { signal: following.signal } }
      return follow(transport, { ...following, source: () => feed })
    },
  }
}
