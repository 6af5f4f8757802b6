import type { Context } from "hono"
import { ANSWER } from "../../../agent/definition/stages.ts"
import { isKnown } from "../../../agent/replay/replay.ts"
import { readResponseId } from "../../../dialects/openai/asked-response.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import type { Run } from "../../../protocol/conversation/run.ts"
import { failure } from "../../../protocol/errors.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import type { CallId } from "../../../protocol/ids.ts"
import { conversationOf } from "../../conversation/find.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { PendingCalls } from "../../stream/pending-calls.ts"
import { type RunRange, runRows } from "../../stream/run-rows.ts"
import type { JournalRow } from "../../stream/told-rows.ts"
import type { OpenAiPorts } from "./ports.ts"

/** A response that was made before: a run, or the part of one that begins with results of its program's. */
export interface FoundResponse {
  readonly run: Run
  readonly conversation: ConversationView
  /** As its id names it: 0 for the first of its run. */
  readonly part: number
  /** Every row of its run that is on record, as far as a response tells it, and the first that is its own. */
  readonly rows: readonly JournalRow[]
  readonly from: number
  /** The pause after which its program has brought results: what follows is the next response. */
  readonly pause?: number
}

/** The response that the address names, if it is the caller's. Throws `not_found` otherwise. */
export async function findResponse(c: Context<Env>, ports: OpenAiPorts): Promise<FoundResponse> {
  const named = readResponseId(c.req.param("id") ?? "")
  const user = userOf(c)
  const run = await ports.conversations.run(user, named.run)
  if (!run) throw failure("not_found")
  const conversation = await conversationOf(ports, user, run.conversationId)
  const { id, position } = conversation
  const place = await ports.conversations.rowsOfRun(id, run.id)
  if (!place) throw failure("not_found")
  const rows = await readShortened(ports, { id, start: place.start, position: Math.min(place.upTo, position) })
  const results = resultsOf(rows)
  if (named.part > 0 && !results.has(named.part)) throw failure("not_found")
  const from = named.part || place.start
  const pause = pauseOf(rows, { from, results })
  return { run, conversation, part: named.part, rows, from, ...(pause === undefined ? {} : { pause }) }
}

/**
 * The rows of a run without what no response tells: what tools of ours have answered, and what was decided beside the
 * replies. That may be a thousand times as long as the rest.
 */
async function readShortened(ports: OpenAiPorts, run: RunRange): Promise<JournalRow[]> {
  const shortened: JournalRow[] = []
  const handed = new Set<CallId>()
  for await (const rows of runRows(ports, run))
    for (const row of rows) {
      if (isKnown(row) && row.type === "handed_over") handed.add(row.callId)
      shortened.push(isKnown(row) ? shorten(row, handed) : row)
    }
  return shortened
}

function shorten(row: JournalEvent, handed: ReadonlySet<CallId>): JournalEvent {
  if (row.type === "step" && row.step !== ANSWER) {
    const { detail: _, ...rest } = row
    return rest
  }
  if (row.type !== "tool_end" || handed.has(row.callId)) return row
  const { data: _, ...rest } = row
  return { ...rest, text: "" }
}

/** The rows with results that its program has brought. */
function resultsOf(rows: readonly JournalRow[]): ReadonlySet<number> {
  const handed = new Set<CallId>()
  const results = new Set<number>()
  for (const row of rows) {
    if (!isKnown(row)) continue
    if (row.type === "handed_over") handed.add(row.callId)
    if (row.type === "tool_end" && handed.has(row.callId)) results.add(row.position)
  }
  return results
}

interface Part {
  readonly from: number
  readonly results: ReadonlySet<number>
}

/** Where the part of a run paused that begins at a row, if results have come since. Those right behind it came with it. */
function pauseOf(rows: readonly JournalRow[], { from, results }: Part): number | undefined {
  const calls = new PendingCalls()
  let pausedAt: number | undefined
  let together = results.has(from)
  for (const row of rows) {
    if (row.position > from) together &&= results.has(row.position)
    if (row.position > from && !together && results.has(row.position) && pausedAt !== undefined) return pausedAt
    if (isKnown(row)) calls.see(row)
    if (row.position < from) continue
    pausedAt = calls.paused && !together ? (pausedAt ?? row.position) : undefined
  }
  return undefined
}

/** What comes with the row that a response begins with: results that were brought together. */
export function resultsTogether({ rows, from }: Pick<FoundResponse, "rows" | "from">): JournalRow[] {
  const results = resultsOf(rows)
  const behind = rows.filter(({ position }) => position >= from)
  const end = behind.findIndex(({ position }) => !results.has(position))
  return end < 0 ? behind : behind.slice(0, end)
}
