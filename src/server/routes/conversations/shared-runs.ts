import type { Hono } from "hono"
import { sharedRunPath } from "../../../protocol/conversation/shared-run.ts"
import { failure } from "../../../protocol/errors.ts"
import { isId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { findRun } from "../../conversation/find.ts"
import { nameModelsOfRuns } from "../../conversation/named-models.ts"
import { toSharedRow } from "../../conversation/to-shared-row.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"
import { ownRows } from "./own-rows.ts"
import type { ConversationRoutePorts } from "./ports.ts"
import { readRunJournal } from "./run-journal.ts"

const DAY = 24 * 60 * 60_000

/** Links to runs: made, listed and taken back by whose run it is, opened by anybody who is signed in and has one. */
export function sharedRunRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { sharedRuns, conversations, models, clock } = ports

  serveRoute(app, routes.shareRun, async (c, { body: { days } }) => {
    const { id } = await findRun(c, ports)
    const made = await sharedRuns.create(userOf(c), id, days === null ? null : clock.now() + days * DAY)
    if (!made) throw failure("not_found") // erased in this very moment
    return { ...made.view, secret: made.secret, path: sharedRunPath(made.secret) }
  })

  serveRoute(app, routes.listSharedRuns, (c, { query }) => sharedRuns.list(userOf(c), query))

  serveRoute(app, routes.revokeSharedRun, async (c) => {
    const id = c.req.param("id") ?? ""
    if (!isId("shr", id) || !(await sharedRuns.revoke(userOf(c), id))) throw failure("not_found")
    return null
  })

  serveRoute(app, routes.openSharedRun, async (_, { body: { secret, after } }) => {
    // What never was, has expired, was taken back and was erased look the same.
    const found = await sharedRuns.find(secret)
    const run = found && (await conversations.run(found.user, found.run))
    const place = run && (await conversations.rowsOfRun(run.conversationId, run.id))
    if (!place) throw failure("not_found")
    const [{ status, model, error, startedAt, endedAt } = run] = await nameModelsOfRuns(models, found.user, [run])
    const { start } = place
    const { id, conversationId } = run
    const { rows, nextAfter } = await readRunJournal(ports, { id, conversationId, after: after + start - 1 })
    const own = await ownRows(ports, { conversationId, start }, rows)
    return {
      run: { status, model, error, startedAt, endedAt },
      items: own.flatMap((row) => toSharedRow(row, start) ?? []),
      nextAfter: nextAfter === null ? null : nextAfter - start + 1,
    }
  })
}
