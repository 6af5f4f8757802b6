import { once } from "node:events"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { createAdaptorServer } from "@hono/node-server"
import { routes } from "../protocol/routes/index.ts"
import { writeEventStream, type ConnectionHooks } from "./stream/event-stream.ts"
import { RequestQueue, type ConnectionLimits, UnauthenticatedConnections } from "./auth/connection-limits.ts"
import { createUpgrades } from "./socket/upgrade.ts"

export interface Listening {
  /** The base URL, with the port that was assigned. */
  readonly url: string
  /**
   * Accepts no more connections, and resolves when the open requests are answered, or closed after `graceMs`. Open sockets
   * stay until `working` resolves: a device sends results over them.
   */
  close(graceMs: number, working?: Promise<unknown>): Promise<void>
}

interface Place {
  readonly host: string
  readonly port: number
  readonly patience?: RequestPatience | undefined
  /** Proxies, whose connections belong to many clients. */
  readonly trustedProxies?: readonly string[]
  readonly strangers?: ConnectionLimits
  /** Aborts when the server is about to shut down. */
  readonly draining?: AbortSignal
  /** Other servers are behind the same load balancer. */
  readonly oneOfSeveral?: boolean
}

/** How long a client may take to send a request, in milliseconds. The time until the answer is not limited. */
export interface RequestPatience {
  readonly headers: number
  readonly request: number
  /** How often the limits are checked. */
  readonly look: number
  /** How long an answer may stay unread. */
  readonly unread?: number
}

/** Enough for a body of 1 MB on a slow connection; a client that drips holds a connection no longer. */
const PATIENCE: RequestPatience = { headers: 10_000, request: 30_000, look: 2500 }
/** A connection this slow is dead, and unread data occupies memory. */
const UNREAD_MS = 60_000

/** Listens on a port. Rejects if the port is not available. */
export async function listen(
  fetch: (request: Request, env?: object) => Response | Promise<Response>,
  { host, port, patience = PATIENCE, trustedProxies = [], strangers: limits, draining, oneOfSeveral = false }: Place,
): Promise<Listening> {
  const inOrder = new RequestQueue()
  const answer = async (request: Request, bindings: object) => {
    const hooks: ConnectionHooks = {}
    const { incoming, outgoing } = bindings as { incoming: IncomingMessage; outgoing: ServerResponse }
    const turn = inOrder.enter(incoming, outgoing)
    if (turn) await turn
    const response = await fetch(request, Object.assign(bindings, { hooks }))
    // If we close a connection while its client reuses it, that request is lost. So the client is warned beforehand
    // (`connection: close`): by every answer of a draining server, and by streams, which end when it drains.
    if (draining?.aborted || (hooks.stream && oneOfSeveral)) outgoing.shouldKeepAlive = false
    return writeEventStream(hooks, response, outgoing)
  }
  const serverOptions = {
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    connectionsCheckingInterval: patience.look,
    // Other upgrade requests (h2c) are answered as plain requests.
    shouldUpgradeCallback: isSocket,
  }
  const server = createAdaptorServer({ fetch: answer, hostname: host, serverOptions }) as Server
  const unauthenticated = new UnauthenticatedConnections({ trustedProxies, ...(limits ? { limits } : {}) })
  server.on("connection", (socket: Socket) => unauthenticated.enter(socket))
  let closing = false
  // An idle keep-alive connection would delay the shutdown by seconds.
  const letGo = () => closing && setImmediate(() => server.closeIdleConnections())
  server.on("request", (_request, response) => response.on("close", letGo).on("timeout", cutUnread))
  // An idle timeout: reading and heartbeats of streams restart it.
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

/** An answer that is still being computed may take its time; one that is written must be read. */
const cutUnread = (socket: Socket) => socket.writableLength > 0 && socket.destroy()

const isSocket = ({ url, headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket" && url?.split("?")[0] === routes.openSocket.path
