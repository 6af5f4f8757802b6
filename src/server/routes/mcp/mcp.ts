import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"
import type { McpServerPorts } from "./ports.ts"

/** The Model Context Protocol over the same conversations. What speaks it is loaded by the first message that comes. */
export function mcpRoutes(app: Hono<Env>, ports: McpServerPorts): void {
  serveRoute(app, routes.sendMcpMessage, async (c, { body }) =>
    (await import("./answer-message.ts")).answerMessage(c, ports, body),
  )

  for (const route of [routes.openMcpStream, routes.endMcpSession])
    serveRoute(app, route, (c) => c.json(NO_SESSIONS, 405, { allow: "POST" }))
}

/** Clients of 2025 ask for a stream of their own, or end a session, and take this for "there is none". */
const NO_SESSIONS = { jsonrpc: "2.0", id: null, error: { code: -32000, message: "Method not allowed." } } as const
