import { isId } from "../../protocol/ids.ts"
import { failure } from "../../protocol/errors.ts"
import { ownRoutes } from "../../protocol/routes/own-routes.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import { refused } from "../client-error.ts"
import { followStream, type OpenFrames } from "../stream/follow.ts"
import type { SharedSocket } from "./shared-socket.ts"
import { openFrames } from "../stream/over-sse.ts"
import type { FollowStream, WatchTarget } from "../stream/streams.ts"
import { toPath, type Transport } from "../transport.ts"

/** Streams that all travel over one socket. */
export function overSocket(transport: Transport, line: SharedSocket): FollowStream {
  return async function* (watched) {
    const { signal } = watched
    const spoken = () => !watched.speak || watched.place?.cursor !== undefined
    const leave = line.enter()
    try {
      yield* followStream(transport, {
        ...watched,
        open: () => (spoken() ? subscribe(line, watched) : speak(transport, watched)),
        sharedWait: () => (spoken() ? line.wait(signal) : undefined),
      })
    } finally {
      leave()
    }
  }
}

async function subscribe(line: SharedSocket, { id, place, signal }: WatchTarget): Promise<OpenFrames> {
  if (id !== undefined) {
    toPath(ownRoutes.watchConversation.path, { id })
    // The server would take it for a bad frame and hang up, on everybody.
    if (!isId("conv", id)) throw refused("not_found", failure("not_found").message)
  }
  return line.subscribe({ id, place, signal })
}

/**
 * A message is sent as a request, which is refused or kept whatever becomes of the socket, and its answer says which run is
 * its own: that takes one frame. What follows is in the conversation.
 */
async function speak(transport: Transport, { speak, signal }: WatchTarget): Promise<OpenFrames> {
  const opened = await openFrames(transport, speak as NonNullable<typeof speak>, signal)
  return { ...opened, frames: firstOf(opened) }
}

async function* firstOf({ frames }: OpenFrames): AsyncGenerator<UnknownFrame, void, undefined> {
  for await (const frame of frames) {
    yield frame
    return
  }
}
