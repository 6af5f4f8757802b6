import type { Context, Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"
import type { McpServerRoutePorts } from "./ports.ts"

/** MCP servers whose tools agents may have. */
export function mcpServerRoutes(app: Hono<Env>, { mcpServers }: McpServerRoutePorts): void {
  serveRoute(app, routes.listMcpServers, async (c) => ({ items: await mcpServers.list(userOf(c)) }))

  serveRoute(app, routes.addMcpServer, (c, { body }) => mcpServers.add(userOf(c), body, c.req.raw.signal))

  serveRoute(app, routes.lookAtMcpServer, (c) => mcpServers.look(userOf(c), nameOf(c), c.req.raw.signal))

  serveRoute(app, routes.decideMcpTool, (c, { body }) => {
    const isAdmin = c.get("caller").scopes.has("admin")
    return mcpServers.decide(userOf(c), nameOf(c), { ...body, isAdmin })
  })

  serveRoute(app, routes.removeMcpServer, async (c) => {
    await mcpServers.remove(userOf(c), nameOf(c))
    return null
  })
}

const nameOf = (c: Context<Env>): string => c.req.param("name") ?? ""
