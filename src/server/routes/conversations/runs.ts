import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { type Env, userOf } from "../../door/caller.ts"
import { findConversation, findRun } from "../../conversation/find.ts"
import { nameModelsOfRuns } from "../../conversation/named-models.ts"
import type { ServerPorts } from "../../ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Looking at runs. */
export function runRoutes(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.listRuns, async (c, { query }) => {
    const { id } = await findConversation(c, ports)
    const page = await ports.conversations.runs(id, query)
    return { ...page, items: await nameModelsOfRuns(ports.models, userOf(c), page.items) }
  })

  serveRoute(app, routes.readRun, async (c) => {
    const run = await findRun(c, ports)
    return (await nameModelsOfRuns(ports.models, userOf(c), [run]))[0] ?? run
  })
}
