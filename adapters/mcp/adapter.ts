import type { Hono } from "hono"
import { routes } from "../../core/protocol/routes/index.ts"
import { type Adapter, mcpChallenge, type Env, serveRoute, type ServerPorts } from "../../core/adapter.ts"

/** The Model Context Protocol over the same conversations. The first message loads what answers it. */
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

/** Clients of 2025 ask for a stream of their own, or end a session, and take this for "there is none". */
const NO_SESSIONS = { jsonrpc: "2.0", id: null, error: { code: -32000, message: "Method not allowed." } } as const
