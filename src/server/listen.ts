import { once } from "node:events"
import type { IncomingMessage, Server } from "node:http"
import type { AddressInfo } from "node:net"
import { createAdaptorServer, type HttpBindings } from "@hono/node-server"
import { routes } from "../protocol/routes/index.ts"
import { answerBy, type Line } from "./socket-stream.ts"
import { createUpgrades } from "./upgrade.ts"

export interface Listening {
  /** Where it can be reached, with the port it got. */
  readonly url: string
  /** Takes no new connections and resolves when the open requests are answered, or cut off after `graceMs`. */
  close(graceMs: number): Promise<void>
}

interface Place {
  readonly host: string
  readonly port: number
}

/** Gives an app a port. Rejects when the port cannot be had. */
export async function listen(
  fetch: (request: Request, env?: object) => Response | Promise<Response>,
  { host, port }: Place,
): Promise<Listening> {
  const answer = async (request: Request, bindings: object) => {
    const line: Line = {}
    const response = await fetch(request, Object.assign(bindings, { line }))
    return answerBy(line, response, (bindings as HttpBindings).outgoing)
  }
  const server = createAdaptorServer({
    fetch: answer,
    hostname: host,
    // Everything else that asks to be something else (h2c) is answered as the request that it is.
    serverOptions: { shouldUpgradeCallback: isSocket },
  }) as Server
  let closing = false
  // A client keeps its connection open for its next request, which would hold up the end by seconds.
  const letGo = () => closing && setImmediate(() => server.closeIdleConnections())
  server.on("request", (_request, response) => response.on("close", letGo))
  const upgrades = createUpgrades(fetch)
  server.on("upgrade", upgrades.upgrade)
  server.listen(port, host)
  await once(server, "listening")
  const { port: got } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${got}`,
    async close(graceMs) {
      closing = true
      const closed = once(server, "close")
      server.close()
      upgrades.close(graceMs)
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(cut)
    },
  }
}

const isSocket = ({ url, headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket" && url?.split("?")[0] === routes.openSocket.path
