import { once } from "node:events"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { createAdaptorServer } from "@hono/node-server"
import { routes } from "../protocol/routes/index.ts"
import { writeEventStream, type Takeover } from "./stream/event-stream.ts"
import { OneByOne, type StrangerLimits, Strangers } from "./auth/connection-limits.ts"
import { createUpgrades } from "./socket/upgrade.ts"

export interface Listening {
  /** Where it can be reached, with the port it got. */
  readonly url: string
  /**
   * Takes no new connections and resolves when the open requests are answered, or cut off after `graceMs`. Open sockets are
   * kept until `working` has resolved: a device answers over them.
   */
  close(graceMs: number, working?: Promise<unknown>): Promise<void>
}

interface Place {
  readonly host: string
  readonly port: number
  readonly patience?: RequestPatience | undefined
  /** Whose addresses stand for those of many. */
  readonly trustedProxies?: readonly string[]
  readonly strangers?: StrangerLimits
  /** Aborts when the server is about to go down. */
  readonly draining?: AbortSignal
  /** Other servers stand behind the same balancer. */
  readonly oneOfSeveral?: boolean
}

/** How long somebody may take to say what they want, in milliseconds. How long the answer takes is ours alone. */
export interface RequestPatience {
  readonly headers: number
  readonly request: number
  /** How often it is looked. */
  readonly look: number
  /** How long nothing of an answer may be read. */
  readonly unread?: number
}

/** A whole body, a megabyte at most, comes through a bad line in this time; whoever drips holds a connection no longer. */
const PATIENCE: RequestPatience = { headers: 10_000, request: 30_000, look: 2500 }
/** A line that is this bad for so long is none; and what waits for whoever does not read waits in memory. */
const UNREAD_MS = 60_000

/** Gives an app a port. Rejects when the port cannot be had. */
export async function listen(
  fetch: (request: Request, env?: object) => Response | Promise<Response>,
  { host, port, patience = PATIENCE, trustedProxies = [], strangers: limits, draining, oneOfSeveral = false }: Place,
): Promise<Listening> {
  const inOrder = new OneByOne()
  const answer = async (request: Request, bindings: object) => {
    const line: Takeover = {}
    const { incoming, outgoing } = bindings as { incoming: IncomingMessage; outgoing: ServerResponse }
    const turn = inOrder.enter(incoming, outgoing)
    if (turn) await turn
    const response = await fetch(request, Object.assign(bindings, { line }))
    // A client uses a connection again that it thinks is open, and where we close it at that moment its request comes to
    // nothing. So it is told beforehand: by every answer of a server that goes down, and by streams, which end when it does.
    if (draining?.aborted || (line.stream && oneOfSeveral)) outgoing.shouldKeepAlive = false
    return writeEventStream(line, response, outgoing)
  }
  const serverOptions = {
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    connectionsCheckingInterval: patience.look,
    // Everything else that asks to be something else (h2c) is answered as the request that it is.
    shouldUpgradeCallback: isSocket,
  }
  const server = createAdaptorServer({ fetch: answer, hostname: host, serverOptions }) as Server
  const strangers = new Strangers({ trustedProxies, ...(limits ? { limits } : {}) })
  server.on("connection", (socket: Socket) => strangers.enter(socket))
  let closing = false
  // A client keeps its connection open for its next request, which would hold up the end by seconds.
  const letGo = () => closing && setImmediate(() => server.closeIdleConnections())
  server.on("request", (_request, response) => response.on("close", letGo).on("timeout", cutUnread))
  // Counts while nothing moves: what a slow reader takes begins it anew, and so does each sign of life of a stream.
  server.timeout = patience.unread ?? UNREAD_MS
  const upgrades = createUpgrades(fetch)
  server.on("upgrade", upgrades.upgrade)
  server.listen(port, host)
  await once(server, "listening")
  const { port: got } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${got}`,
    async close(graceMs, working = Promise.resolve()) {
      closing = true
      const closed = once(server, "close")
      server.close()
      upgrades.close(graceMs, working)
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(cut)
    },
  }
}

/** An answer that is still being made may take its time; of one that is written somebody has to read. */
const cutUnread = (socket: Socket) => socket.writableLength > 0 && socket.destroy()

const isSocket = ({ url, headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket" && url?.split("?")[0] === routes.openSocket.path
