import type { MessagesRead } from "../../protocol/answers.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { CallId, ConversationId, ProposalId } from "../../protocol/ids.ts"
import type { Message } from "../../protocol/conversation/message.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Engine } from "../engine/engine.ts"
import { bytesOf } from "../engine/page-bytes.ts"
import { type EventRow, toEvent } from "../engine/event-rows.ts"
import { type ProposalStateRow, toProposalView } from "./proposal-view.ts"

type ProposalEvent = EventOf<"awaiting_confirmation" | "proposal" | "decision" | "late_result">
type Decided = Pick<MessagesRead, "decided" | "lateResults">
type StateRow = ProposalStateRow & { readonly decided_by: string | null }

interface Range {
  /** The position of the first message. */
  readonly from: number
  /** The position of the last message. */
  readonly last: number
  readonly upTo: number
}

const KEY = "(SELECT key FROM conversation WHERE id = ?)"
/** All events about a reply's calls are recorded before the next reply, except late results. */
const EVENTS_OF_PAGE = `FROM event WHERE conversation = ${KEY} AND position > ? AND position <= ? AND position <
  coalesce((SELECT min(position) FROM event WHERE conversation = ${KEY} AND position > ? AND role = 'assistant'), ?)`
const IDS_AT_ONCE = 500

const pageValues = (id: ConversationId, { from, last, upTo }: Range) => [
  ...[id, from, upTo],
  ...[id, last, Number.MAX_SAFE_INTEGER],
]

/** The sizes and positions of proposals about a page of messages. */
export function proposalLengths(engine: Engine, id: ConversationId, range: Range) {
  const sql = `SELECT position, ${bytesOf(engine, ["body"])} AS length ${EVENTS_OF_PAGE} AND type IN ('awaiting_confirmation', 'proposal')`
  return engine.query<{ position: number; length: number }>(sql, pageValues(id, range))
}

/** Decided proposals of these messages' calls, and late results, in the order of the journal. */
export async function readDecided(
  engine: Engine,
  id: ConversationId,
  { messages, ...range }: Range & { readonly messages: readonly Message[] },
): Promise<Decided> {
  const inputs = new Map<CallId, JsonObject>()
  for (const { toolCalls } of messages) for (const call of toolCalls ?? []) inputs.set(call.id, call.input)
  if (inputs.size === 0) return { decided: [], lateResults: [] }
  const events = await readEvents(engine, id, range)
  const opened = events.flatMap((event) => openedBy(event).filter(({ proposed }) => inputs.has(proposed.callId)))
  const states = await readStates(
    engine,
    opened.map(({ proposed }) => proposed.id),
  )
  const decisions = new Map<ProposalId, EventOf<"decision">>()
  for (const event of events) if (event.type === "decision") decisions.set(event.proposalId, event)
  const decided = opened.flatMap(({ proposed, position, at }) => {
    const row = states.get(proposed.id)
    if (!row || row.status === "pending") return []
    const given = proposed.arguments ?? inputs.get(proposed.callId) ?? {}
    const proposal = toProposalView(row, id, { proposed, at, given }, at)
    const { reason = null, decision, arguments: edited } = decisions.get(proposed.id) ?? {}
    const editedTo = decision === "edit" && edited ? { editedTo: edited } : {}
    return [{ position, decidedBy: row.decided_by, reason, ...editedTo, proposal }]
  })
  const lateResults = events.flatMap((event) =>
    event.type === "late_result" && inputs.has(event.callId)
      ? [{ callId: event.callId, status: event.status, text: event.text }]
      : [],
  )
  return { decided, lateResults }
}

async function readEvents(engine: Engine, id: ConversationId, range: Range): Promise<ProposalEvent[]> {
  const types = "('awaiting_confirmation', 'proposal', 'decision', 'late_result')"
  const sql = `SELECT position, type, version, at, body ${EVENTS_OF_PAGE} AND type IN ${types} ORDER BY position`
  const rows = await engine.query<{ position: number; type: string; version: number; at: number; body: string }>(
    sql,
    pageValues(id, range),
  )
  return rows.map(({ position, type, version, at, body }) => {
    const row: EventRow = [position, type, version, at, null, null, null, null, null, null, body]
    return toEvent(row) as ProposalEvent
  })
}

function openedBy(event: ProposalEvent): { proposed: Proposed; position: number; at: number }[] {
  const { position, at } = event
  const all =
    event.type === "awaiting_confirmation" ? event.proposals : event.type === "proposal" ? [event.proposal] : []
  return all.map((proposed) => ({ proposed, position, at }))
}

async function readStates(engine: Engine, ids: readonly ProposalId[]): Promise<Map<ProposalId, StateRow>> {
  const states = new Map<ProposalId, StateRow>()
  for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
    const some = ids.slice(start, start + IDS_AT_ONCE)
    const sql = `SELECT id, run_id, status, code, expires_at, seen_at, decided_by FROM proposal
      WHERE id IN (${some.map(() => "?").join(", ")})`
    for (const row of await engine.query<StateRow>(sql, some)) states.set(row.id, row)
  }
  return states
}
