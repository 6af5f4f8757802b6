import type { Hono } from "hono"
import { grantsOf } from "../../../agent/gate/grants.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { findConversation } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** What a person has agreed to beforehand: read from the fold, taken back like any other input. */
export function grantRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  const { runtime, journal } = ports

  serveRoute(app, routes.listGrants, async (c) => {
    const { id } = await findConversation(c, ports)
    const grants = grantsOf(await journal.load(id, true))
    return { items: grants.map((grant) => ({ ...grant, grantedAt: new Date(grant.grantedAt).toISOString() })) }
  })

  serveRoute(app, routes.revokeGrants, async (c) => {
    const { id } = await findConversation(c, ports)
    await runtime.submit(id, { type: "revoke", by: userOf(c) })
    return null
  })

  serveRoute(app, routes.revokeGrant, async (c) => {
    const { id } = await findConversation(c, ports)
    await runtime.submit(id, { type: "revoke", tool: c.req.param("tool") ?? "", by: userOf(c) })
    return null
  })
}
