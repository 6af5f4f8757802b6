import { createCalls } from "./calls.ts"
import type { Client } from "./client.ts"
import type { SocketConstructor } from "./socket/dial.ts"
import { type ConnectionState, SharedSocket } from "./socket/shared-socket.ts"
import { overSocket } from "./socket/over-socket.ts"
import { createStreams } from "./stream/streams.ts"
import { type ClientOptions, Transport } from "./transport.ts"

export interface SocketClientOptions extends ClientOptions {
  /** Where the platform has none of its own. */
  readonly WebSocket?: SocketConstructor
}

/** The socket that all streams of a client share. */
export interface SharedConnection {
  readonly state: ConnectionState
  /** Calls back with each new state; the returned function ends that. */
  onState(listener: (state: ConnectionState) => void): () => void
  /**
   * Does not wait for the next try; an open socket is asked for a sign of life, and replaced when there is none. A page
   * does this by itself when its network is back or somebody looks at it again.
   */
  retryNow(): void
}

export type SocketClient = Client & { readonly connection: SharedConnection }

/** The same client whose streams, however many, all travel over one WebSocket. */
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
