import type { Hono } from "hono"
import { routes } from "../protocol/routes/index.ts"
import type { Env } from "./caller.ts"
import { findConversation, findRun } from "./find.ts"
import type { ServerPorts } from "./ports.ts"
import { serveRoute } from "./serve-route.ts"

/** Looking at runs. */
export function runRoutes(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.listRuns, async (c, { query }) => {
    const { id } = await findConversation(c, ports)
    return ports.conversations.runs(id, query)
  })

  serveRoute(app, routes.readRun, (c) => findRun(c, ports))
}
