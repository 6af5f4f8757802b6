import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { findAudit } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** What was done. */
export function auditRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.listAudit, (c, { query }) => ports.audit.list(userOf(c), query))

  serveRoute(app, routes.readAudit, (c) => findAudit(c, ports))
}
