import type { Hono } from "hono"
import { type RecordedEvent, type Run, sharedRunPath } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import { type UserId, isId, type ConversationId, type RunId } from "../../protocol/ids.ts"
import { routes } from "../../protocol/routes/index.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { findConversation, findRun, messageOf } from "../conversation/find.ts"
import { nameModelsOfRuns } from "../conversation/settings.ts"
import type { ConversationRoutePorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import { toSharedRow } from "../conversation/to-shared-row.ts"
import type { EventPage } from "../../engine/journal.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import { rowsLength } from "../../shared/text/json.ts"
import { JournalPages } from "../stream/journal-runs.ts"
import { isKnown } from "../../engine/replay/replay.ts"

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

/** As many rows as one answer holds, fewer where they are long. */
const MAX_ROWS = 500
const MAX_LENGTH = 1_000_000

type Row = EventPage["events"][number]

interface RowsOfRun {
  readonly rows: readonly Row[]
  /** What to ask for next; null behind the last there is now. */
  readonly nextAfter: number | null
}

interface Behind {
  readonly id: RunId
  readonly conversationId: ConversationId
  readonly after: number
}

/** The rows of a run behind a position. What was said between this run and the next belongs to this one. */
export async function readRunJournal(
  { conversations, journal }: Pick<ConversationRoutePorts, "conversations" | "journal">,
  { id, conversationId, after }: Behind,
): Promise<RowsOfRun> {
  const place = await conversations.rowsOfRun(conversationId, id)
  // The row of a run is written with its first event: without one, the conversation was erased a moment ago.
  if (!place) return { rows: [], nextAfter: null }
  const pages = new JournalPages(journal, conversationId)
  const rows: Row[] = []
  let length = 0
  for (let behind = Math.max(after, place.start - 1); ;) {
    const { events, more } = await pages.read({ after: behind, upTo: place.upTo })
    rows.push(...events)
    behind = events.at(-1)?.position ?? behind
    if (!more || events.length === 0) return { rows, nextAfter: null }
    length += rowsLength(events as readonly JournalEvent[]) // one of a newer Pawl has a length too
    if (rows.length >= MAX_ROWS || length >= MAX_LENGTH) return { rows, nextAfter: behind }
  }
}

interface RunPlace {
  readonly conversationId: ConversationId
  /** Its first row. */
  readonly start: number
}

/**
 * The rows among those of a run that are about it. A write of an earlier run may end, or be settled by its person, while
 * this one is at work: what that says is no part of this run. Only then its calls are looked for.
 */
export async function ownRows(
  { journal }: Pick<ConversationRoutePorts, "journal">,
  { conversationId, start }: RunPlace,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const last = rows.findLast(isOfAnyRun)
  if (!last) return rows
  const calls = new Set<string>()
  const pages = new JournalPages(journal, conversationId)
  for (let [after, more] = [start - 1, true]; more;) {
    const page = await pages.read({ after, upTo: last.position })
    for (const row of page.events) for (const call of callsIn(row)) calls.add(call)
    after = page.events.at(-1)?.position ?? after
    more = page.more && page.events.length > 0
  }
  return rows.filter((row) => !isOfAnyRun(row) || calls.has(row.callId))
}

const isOfAnyRun = (row: Row) => isKnown(row) && (row.type === "late_result" || row.type === "resolution")

function callsIn(row: Row): string[] {
  if (!isKnown(row) || row.type !== "message") return []
  return row.parts.flatMap((part) => (part.type === "call" ? [part.id] : []))
}
