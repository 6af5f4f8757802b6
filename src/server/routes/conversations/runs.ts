import type { Hono } from "hono"
import type { RecordedEvent } from "../../../protocol/conversation/run-journal.ts"
import type { Run } from "../../../protocol/conversation/run.ts"
import { failure } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { findConversation, findRun, messageOf } from "../../conversation/find.ts"
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

  const named = async (user: UserId, run: Run) => (await nameModelsOfRuns(ports.models, user, [run]))[0] ?? run

  serveRoute(app, routes.readRun, async (c) => named(userOf(c), await findRun(c, ports)))

  serveRoute(app, routes.readRunOfMessage, async (c) => {
    const { id } = await findConversation(c, ports)
    const runId = await ports.conversations.runOfMessage(id, messageOf(c))
    const run = runId && (await ports.conversations.run(userOf(c), runId))
    if (!run) throw failure("not_found")
    return named(userOf(c), run)
  })

  serveRoute(app, routes.readRunJournal, async (c, { query }) => {
    const { id, conversationId } = await findRun(c, ports)
    const { rows, nextAfter } = await readRunJournal(ports, { id, conversationId, after: query.after })
    return { items: rows.map((row): RecordedEvent => ({ ...row })), nextAfter }
  })
}
