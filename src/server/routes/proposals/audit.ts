import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { type Env, userOf } from "../../door/caller.ts"
import { findAudit } from "../../conversation/find.ts"
import type { ServerPorts } from "../../ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** What was done. */
export function auditRoutes(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.listAudit, (c, { query }) => ports.audit.list(userOf(c), query))

  serveRoute(app, routes.readAudit, (c) => findAudit(c, ports))
}
