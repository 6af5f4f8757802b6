import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { findConversation, findRun } from "../../conversation/find.ts"
import { nameModelsOfRuns } from "../../conversation/named-models.ts"
import type { ConversationRoutePorts } from "./ports.ts"
import { readRunJournal } from "./run-journal.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Looking at runs. */
export function runRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  serveRoute(app, routes.listRuns, async (c, { query }) => {
    const { id } = await findConversation(c, ports)
    const page = await ports.conversations.runs(id, query)
    return { ...page, items: await nameModelsOfRuns(ports.models, userOf(c), page.items) }
  })

  serveRoute(app, routes.readRun, async (c) => {
    const run = await findRun(c, ports)
    return (await nameModelsOfRuns(ports.models, userOf(c), [run]))[0] ?? run
  })

  serveRoute(app, routes.readRunJournal, async (c, { query }) => {
    const { id, conversationId } = await findRun(c, ports)
    return readRunJournal(ports, { id, conversationId, after: query.after })
  })
}
