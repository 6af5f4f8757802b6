import type { Hono } from "hono"
import { type RecordedEvent, type Run, sharedRunPath } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import { type UserId, isId, type ConversationId, type RunId } from "../../protocol/ids.ts"
import { routes } from "../../protocol/routes/index.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { findConversation, findRun, messageOf } from "../conversation/find.ts"
import { withDefaultModelsOfRuns } from "../conversation/settings.ts"
import type { ConversationRoutePorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import { toSharedRow } from "../conversation/to-shared-row.ts"
import type { EventPage } from "../../engine/journal.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import { rowsLength } from "../../shared/text/json.ts"
import { JournalPages } from "../stream/journal-runs.ts"
import { isKnown } from "../../engine/replay/replay.ts"

export function runRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  serveRoute(app, routes.listRuns, async (c, { query }) => {
    const { id } = await findConversation(c, ports)
    const page = await ports.conversations.runs(id, query)
    return { ...page, items: await withDefaultModelsOfRuns(ports.models, userOf(c), page.items) }
  })

  const named = async (user: UserId, run: Run) => (await withDefaultModelsOfRuns(ports.models, user, [run]))[0] ?? run

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

/** Links to runs: created, listed and revoked by the run's owner, opened by anyone who is signed in and has the link. */
export function sharedRunRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { sharedRuns, conversations, models, clock } = ports

  serveRoute(app, routes.shareRun, async (c, { body: { days } }) => {
    const { id } = await findRun(c, ports)
    const made = await sharedRuns.create(userOf(c), id, days === null ? null : clock.now() + days * DAY)
    if (!made) throw failure("not_found") // erased concurrently
    return { ...made.view, secret: made.secret, path: sharedRunPath(made.secret) }
  })

  serveRoute(app, routes.listSharedRuns, (c, { query }) => sharedRuns.list(userOf(c), query))

  serveRoute(app, routes.revokeSharedRun, async (c) => {
    const id = c.req.param("id") ?? ""
    if (!isId("shr", id) || !(await sharedRuns.revoke(userOf(c), id))) throw failure("not_found")
    return null
  })

  serveRoute(app, routes.openSharedRun, async (_, { body: { secret, after } }) => {
    // Unknown, expired, revoked and erased links look the same.
    const found = await sharedRuns.find(secret)
    const run = found && (await conversations.run(found.user, found.run))
    const place = run && (await conversations.rowsOfRun(run.conversationId, run.id))
    if (!place) throw failure("not_found")
    const [{ status, model, error, startedAt, endedAt } = run] = await withDefaultModelsOfRuns(models, found.user, [
      run,
    ])
    const { start } = place
    const { id, conversationId } = run
    const { rows, nextAfter } = await readRunJournal(ports, { id, conversationId, after: after + start - 1 })
    const own = await rowsOfOwnCalls(ports, { conversationId, start }, rows)
    return {
      run: { status, model, error, startedAt, endedAt },
      items: own.flatMap((row) => toSharedRow(row, start) ?? []),
      nextAfter: nextAfter === null ? null : nextAfter - start + 1,
    }
  })
}

/** Most rows of an answer, fewer if they are long. */
const MAX_ROWS = 500
const MAX_LENGTH = 1_000_000

type Row = EventPage["events"][number]

interface RowsOfRun {
  readonly rows: readonly Row[]
  /** The cursor for the next page; null at the current end. */
  readonly nextAfter: number | null
}

interface RunCursor {
  readonly id: RunId
  readonly conversationId: ConversationId
  readonly after: number
}

/** The rows of a run after a position. Rows between this run and the next belong to this one. */
export async function readRunJournal(
  { conversations, journal }: Pick<ConversationRoutePorts, "conversations" | "journal">,
  { id, conversationId, after }: RunCursor,
): Promise<RowsOfRun> {
  const place = await conversations.rowsOfRun(conversationId, id)
  // A run's row is written with its first event: without it, the conversation was just erased.
  if (!place) return { rows: [], nextAfter: null }
  const pages = new JournalPages(journal, conversationId)
  const rows: Row[] = []
  let length = 0
  for (let sentUpTo = Math.max(after, place.start - 1); ;) {
    const { events, more } = await pages.read({ after: sentUpTo, upTo: place.upTo })
    rows.push(...events)
    sentUpTo = events.at(-1)?.position ?? sentUpTo
    if (!more || events.length === 0) return { rows, nextAfter: null }
    length += rowsLength(events as readonly JournalEvent[]) // events of a newer version have a length too
    if (rows.length >= MAX_ROWS || length >= MAX_LENGTH) return { rows, nextAfter: sentUpTo }
  }
}

interface RunStart {
  readonly conversationId: ConversationId
  /** Its first position. */
  readonly start: number
}

/**
 * Removes rows that belong to calls of earlier runs: their writes may end or be resolved while this run works. The run's
 * calls are only read if there is such a row.
 */
async function rowsOfOwnCalls(
  { journal }: Pick<ConversationRoutePorts, "journal">,
  { conversationId, start }: RunStart,
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
