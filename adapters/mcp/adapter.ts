import type { Hono } from "hono"
import { type Adapter, type Env, mcpChallenge, serveRoute, type ServerPorts } from "../../core/adapter.ts"
import { routes } from "../../core/protocol/index.ts"

/** The Model Context Protocol. The first message loads its code. */
export const mcpAdapter: Adapter = {
  paths: ["/mcp"],
  serve: serveMcp,
  challenge: (c, { address }) => mcpChallenge(c, address),
}

function serveMcp(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.sendMcpMessage, async (c, { body }) =>
    (await import("./answer-message.ts")).answerMessage(c, ports, body),
  )

  for (const route of [routes.openMcpStream, routes.endMcpSession])
    serveRoute(app, route, (c) => c.json(NO_SESSIONS, 405, { allow: "POST" }))
}

/** Clients of 2025 request a stream or end a session; 405 tells them that there is none. */
const NO_SESSIONS = { jsonrpc: "2.0", id: null, error: { code: -32000, message: "Method not allowed." } } as const
