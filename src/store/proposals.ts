import type { Page } from "../protocol/answers.ts"
import type { EventOf } from "../protocol/events.ts"
import type { CallId, ConversationId, ProposalId, RunId, UserId } from "../protocol/ids.ts"
import type { Proposal, Proposed, ProposalStatus } from "../protocol/proposal.ts"
import type { ProposalQuery } from "../protocol/requests.ts"
import type { JsonObject } from "../protocol/schema.ts"
import { toPlace } from "./conversations.ts"
import type { Engine } from "./engine.ts"
import { toEvent } from "./event-rows.ts"
import { toTime } from "./views.ts"

interface Row {
  readonly id: ProposalId
  readonly conversation: number
  readonly conversation_id: ConversationId
  readonly run_id: RunId
  readonly position: number
  readonly status: ProposalStatus
  readonly code: string | null
  readonly expires_at: number
}

interface Opening {
  readonly proposed: Proposed
  readonly index: number
  readonly at: number
}

const SELECT = `SELECT q.id, q.conversation, c.id AS conversation_id, q.run_id, q.position, q.status, q.code, q.expires_at
  FROM proposal q JOIN conversation c ON c.key = q.conversation`

/** Proposals as people read them. Their words stand in the journal, in the event that opened them; here is their state. */
export class SqlProposals {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /** Undefined for one that does not exist and for one of somebody else's alike. */
  async find(user: UserId, id: ProposalId): Promise<Proposal | undefined> {
    const sql = `${SELECT} JOIN person p ON p.key = c.person WHERE q.id = ? AND p.id = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, user])
    return row && this.#toProposal(row)
  }

  /** A person's proposals of all conversations, newest first. */
  async list(user: UserId, { status, cursor, limit }: ProposalQuery): Promise<Page<Proposal>> {
    const [time, last] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : toPlace(cursor)
    const wanted = this.#having(status)
    const sql = `${SELECT} JOIN person p ON p.key = c.person WHERE p.id = ? AND ${wanted.sql}
      AND (q.expires_at < ? OR (q.expires_at = ? AND q.id < ?)) ORDER BY q.expires_at DESC, q.id DESC LIMIT ?`
    const rows = await this.#engine.query<Row>(sql, [user, ...wanted.values, time, time, last, limit + 1])
    const items = rows.slice(0, limit)
    const end = items.at(-1)
    return {
      items: await Promise.all(items.map((row) => this.#toProposal(row))),
      nextCursor: rows.length > limit && end ? `${end.expires_at}.${end.id}` : null,
    }
  }

  /** Those of a conversation that are not settled, in the order they were made. */
  async open(id: ConversationId): Promise<Proposal[]> {
    const sql = `${SELECT} WHERE c.id = ? AND q.status IN ('pending', 'applying', 'in_doubt') ORDER BY q.position`
    const rows = await this.#engine.query<Row>(sql, [id])
    const placed = await Promise.all(rows.map(async (row) => ({ row, opening: await this.#openingOf(row) })))
    placed.sort((a, b) => a.row.position - b.row.position || a.opening.index - b.opening.index)
    return Promise.all(placed.map(({ row, opening }) => this.#toProposal(row, opening)))
  }

  /** Nothing rings when a proposal expires: one that is still pending after its time counts as expired (GATE-04). */
  #having(status: ProposalStatus | undefined): { sql: string; values: unknown[] } {
    const now = this.#now()
    if (status === undefined) return { sql: "q.status = q.status", values: [] }
    if (status === "pending") return { sql: "q.status = 'pending' AND q.expires_at > ?", values: [now] }
    if (status !== "expired") return { sql: "q.status = ?", values: [status] }
    return { sql: "(q.status = 'expired' OR (q.status = 'pending' AND q.expires_at <= ?))", values: [now] }
  }

  /** What stands in the event that opened a proposal, and which of its proposals it is. */
  async #openingOf({ id, conversation, position }: Row): Promise<Opening> {
    const [row] = await this.#engine.events(conversation, { after: position - 1, upTo: position, limit: 1 })
    const event = row && (toEvent(row) as EventOf<"awaiting_confirmation" | "proposal">)
    const all = event?.type === "proposal" ? [event.proposal] : (event?.proposals ?? [])
    const index = all.findIndex((candidate) => candidate.id === id)
    const proposed = all[index]
    if (!event || !proposed) throw new Error(`${id} does not stand in the event that opened it`)
    return { proposed, index, at: event.at }
  }

  async #toProposal(row: Row, opening?: Opening): Promise<Proposal> {
    const { id, code } = row
    const { proposed, at } = opening ?? (await this.#openingOf(row))
    const { callId, tool, action, summary, diff = null, undoable, insists, version, hash } = proposed
    const late = row.status === "pending" && row.expires_at <= this.#now()
    return {
      id,
      conversationId: row.conversation_id,
      runId: row.run_id,
      callId,
      tool,
      action,
      summary,
      arguments: proposed.arguments ?? (await this.#argumentsOf(proposed, row)),
      diff,
      undoable,
      ...(insists ? { insists } : {}),
      version,
      hash,
      status: late ? "expired" : row.status,
      ...(code === null ? {} : { code }),
      createdAt: toTime(at),
      expiresAt: toTime(row.expires_at),
    }
  }

  /** A proposal that nobody edited runs with the arguments of its call: those of the last reply before it. */
  async #argumentsOf({ callId }: Proposed, { conversation, position }: Row): Promise<JsonObject> {
    const sql = `SELECT tool_calls FROM event WHERE conversation = ? AND position < ? AND tool_calls IS NOT NULL
      ORDER BY position DESC LIMIT 1`
    const [row] = await this.#engine.query<{ tool_calls: string }>(sql, [conversation, position])
    const calls = JSON.parse(row?.tool_calls ?? "[]") as { id: CallId; input: JsonObject }[]
    return calls.find((call) => call.id === callId)?.input ?? {}
  }
}
