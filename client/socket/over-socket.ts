import { failure } from "../../core/protocol/errors.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import { isId } from "../../core/protocol/ids.ts"
import { ownRoutes } from "../../core/protocol/routes/own-routes.ts"
import { createCalls } from "../calls.ts"
import { refused } from "../client-error.ts"
import type { Client } from "../client.ts"
import { type FrameConnection, followStream } from "../stream/follow.ts"
import { openFrames } from "../stream/over-sse.ts"
import { type FollowStream, type WatchTarget, createStreams } from "../stream/streams.ts"
import { type ClientOptions, Transport, toPath } from "../transport.ts"
import { type ConnectionState, SharedSocket, type SocketConstructor } from "./shared-socket.ts"

/** Streams over one shared socket. */
function overSocket(transport: Transport, line: SharedSocket): FollowStream {
  return async function* (watched) {
    const { signal } = watched
    const hasSent = () => !watched.speak || watched.place?.cursor !== undefined
    const leave = line.enter()
    try {
      yield* followStream(transport, {
        ...watched,
        open: () => (hasSent() ? subscribe(line, watched) : speak(transport, watched)),
        sharedWait: () => (hasSent() ? line.wait(signal) : undefined),
      })
    } finally {
      leave()
    }
  }
}

async function subscribe(line: SharedSocket, { id, place, signal }: WatchTarget): Promise<FrameConnection> {
  if (id !== undefined) {
    toPath(ownRoutes.watchConversation.path, { id })
    // The server would treat it as an invalid frame and close the socket for all streams.
    if (!isId("conv", id)) throw refused("not_found", failure("not_found").message)
  }
  return line.subscribe({ id, place, signal })
}

/**
 * A message is sent by a request, so that it is accepted or refused independently of the socket. Its response identifies the
 * run with the first frame; the rest comes over the socket.
 */
async function speak(transport: Transport, { speak, signal }: WatchTarget): Promise<FrameConnection> {
  const opened = await openFrames(transport, speak as NonNullable<typeof speak>, signal)
  return { ...opened, frames: firstOf(opened) }
}

async function* firstOf({ frames }: FrameConnection): AsyncGenerator<UnknownFrame, void, undefined> {
  for await (const frame of frames) {
    yield frame
    return
  }
}

/** Options of `createSocketClient`. */
export interface SocketClientOptions extends ClientOptions {
  /** The WebSocket constructor, if the platform has none. */
  readonly WebSocket?: SocketConstructor
}

/** The state of the one WebSocket that all streams of a client share, and a way to observe it. */
export interface SharedConnection {
  readonly state: ConnectionState
  /** Calls the listener with each new state. Returns a function that removes it. */
  onState(listener: (state: ConnectionState) => void): () => void
  /**
   * Reconnects without waiting for the next attempt. An open socket is pinged, and replaced if it does not answer. A
   * page does this automatically when its network returns or it becomes visible.
   */
  retryNow(): void
}

/** A client whose streams share one WebSocket, with the state of that connection. */
export type SocketClient = Client & { readonly connection: SharedConnection }

/** Creates a client whose streams share one WebSocket. */
export function createSocketClient({ WebSocket, ...options }: SocketClientOptions): SocketClient {
  const transport = new Transport(options)
  const calls = createCalls(transport)
  const line = new SharedSocket({ transport, calls, WebSocket })
  const connection: SharedConnection = {
    get state() {
      return line.state
    },
    onState: (listener) => line.onState(listener),
    retryNow: () => line.retryNow(),
  }
  return { ...calls, ...createStreams(overSocket(transport, line)), connection }
}
