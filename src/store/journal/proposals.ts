import type { Page } from "../../protocol/answers.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { AuditId, CallId, ConversationId, ProposalId, RunId, UserId } from "../../protocol/ids.ts"
import type { Proposal, Proposed, ProposalStatus } from "../../protocol/proposals/proposal.ts"
import type { ProposalQuery } from "../../protocol/requests.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { parseTimeCursor } from "../engine/newest-first.ts"
import type { Engine } from "../engine/engine.ts"
import { toEvent } from "../engine/event-rows.ts"
import { toTime } from "../engine/row-values.ts"
import { ProposalOwners } from "../proposals/owners.ts"
import { having, placesOf, type Which } from "../proposals/places.ts"
import { HAS_EXPIRED, openIn } from "../proposals/states.ts"

interface Row {
  readonly id: ProposalId
  readonly conversation: number
  readonly conversation_id: ConversationId
  readonly run_id: RunId
  readonly position: number
  readonly status: ProposalStatus
  readonly code: string | null
  readonly expires_at: number
  readonly seen_at: number | null
}

interface NewestOptions {
  readonly cursor?: string | undefined
  readonly limit: number
  readonly now: number
}

/** What a person's inbox holds, in this order. */
const INBOX: readonly Which[] = [{ status: "pending" }, { status: "in_doubt" }, { status: "expired", seen: false }]

interface Opening {
  readonly proposed: Proposed
  readonly index: number
  readonly at: number
}

const COLUMNS = `q.id, q.conversation, c.id AS conversation_id, q.run_id, q.position, q.status, q.code, q.expires_at, q.seen_at`
const SELECT = `SELECT ${COLUMNS} FROM proposal q JOIN conversation c ON c.key = q.conversation`

/** Proposals as people read them. Their words stand in the journal, in the event that opened them; here is their state. */
export class SqlProposals {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #owners: ProposalOwners

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
    this.#owners = new ProposalOwners(engine)
  }

  /** Undefined for one that does not exist and for one of somebody else's alike. */
  async find(user: UserId, id: ProposalId): Promise<Proposal | undefined> {
    const sql = `${SELECT} JOIN person p ON p.key = c.person WHERE q.id = ? AND p.id = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, user])
    return row && this.#toProposal(row)
  }

  /** A person's proposals of all conversations, newest first. */
  async list(user: UserId, { cursor, limit, ...which }: ProposalQuery): Promise<Page<Proposal>> {
    if (which.conversationId === undefined) await this.#owners.assign()
    const rows = await this.#newest(user, [which], { cursor, limit: limit + 1, now: this.#now() })
    const page = rows.slice(0, limit)
    const end = page.at(-1)
    return {
      items: await this.#toProposals(page),
      nextCursor: rows.length > limit && end ? `${end.expires_at}.${end.id}` : null,
    }
  }

  /** The newest of each of these kinds, newest first. */
  async #newest(user: UserId, kinds: readonly Which[], { cursor, limit, now }: NewestOptions): Promise<Row[]> {
    const [time, last] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : parseTimeCursor(cursor)
    // One question for all kinds and places: a row that goes from one to another between two of them would be in neither.
    const places = kinds.flatMap((which) => {
      const wanted = having(which, now)
      return placesOf(user, which).map(({ sql: place, values }) => {
        // The first of the conditions says nothing new, but where in the index to begin.
        const sql = `SELECT * FROM (SELECT ${COLUMNS} FROM ${place} AND ${wanted.sql} AND q.expires_at <= ?
          AND (q.expires_at < ? OR q.id < ?) ORDER BY q.expires_at DESC, q.id DESC LIMIT ?) AS found`
        return { sql, values: [...values, ...wanted.values, time, time, last, limit] }
      })
    })
    // Put in order by the database: letters may come in another order there than here.
    const sql = `SELECT * FROM (${places.map((place) => place.sql).join(" UNION ALL ")}) AS listed
      ORDER BY expires_at DESC, id DESC`
    return this.#engine.query<Row>(
      sql,
      places.flatMap(({ values }) => values),
    )
  }

  /** Those of a conversation that are not settled, in the order they were made. */
  async open(id: ConversationId): Promise<Proposal[]> {
    return this.#inOrder(await this.#engine.query<Row>(openIn(COLUMNS, "c.id = ?"), [id, id]))
  }

  /** The newest of a conversation that were settled as expired and not proposed again, in the order they were made. */
  async lapsed(id: ConversationId, limit: number): Promise<Proposal[]> {
    const sql = `${SELECT} WHERE c.id = ? AND q.${HAS_EXPIRED} ORDER BY q.position DESC LIMIT ?`
    return this.#inOrder(await this.#engine.query<Row>(sql, [id, limit]))
  }

  async #inOrder(rows: readonly Row[]): Promise<Proposal[]> {
    const placed = await Promise.all(rows.map(async (row) => ({ row, opening: await this.#openingOf(row) })))
    const there = placed.flatMap(({ row, opening }) => (opening ? [{ row, opening }] : []))
    there.sort((a, b) => a.row.position - b.row.position || a.opening.index - b.opening.index)
    return Promise.all(there.map(({ row, opening }) => this.#toWords(row, opening)))
  }

  /** What a person's inbox holds: what waits for them, and what expired before they saw it. */
  async inbox(user: UserId, limit: number): Promise<Proposal[]> {
    await this.#owners.assign()
    const now = this.#now()
    const rows = await this.#newest(user, INBOX, { limit, now })
    const kindOf = ({ status, expires_at }: Row) => (status === "in_doubt" ? 1 : expires_at > now ? 0 : 2)
    const kinds = INBOX.map((_, kind) => rows.filter((row) => kindOf(row) === kind).slice(0, limit))
    return this.#toProposals(kinds.flat())
  }

  /** Those of a conversation that were settled as expired, and of which the person has not seen it. */
  async expired(id: ConversationId): Promise<Proposal[]> {
    const sql = `${SELECT} WHERE c.id = ? AND q.${HAS_EXPIRED} AND q.seen_at IS NULL ORDER BY q.position`
    return this.#toProposals(await this.#engine.query<Row>(sql, [id]))
  }

  /** The applied write that a proposal was to take back, where its run was one that undoes. */
  async undoneBy({ conversationId, runId }: Proposal): Promise<AuditId | undefined> {
    const sql = `SELECT e.body FROM event e JOIN conversation c ON c.key = e.conversation
      WHERE c.id = ? AND e.type = 'run_started' AND e.message_id = ?`
    const [row] = await this.#engine.query<{ body: string }>(sql, [conversationId, runId])
    return row && (JSON.parse(row.body) as { undoes?: AuditId }).undoes
  }

  /** Remembers that the person has seen that it expired. False where it has not, or where that was known. */
  async see(user: UserId, id: ProposalId): Promise<boolean> {
    const now = this.#now()
    const sql = `UPDATE proposal SET seen_at = ? WHERE id = ? AND seen_at IS NULL
      AND (status = 'expired' OR (status = 'pending' AND expires_at <= ?))
      AND conversation IN (SELECT c.key FROM conversation c JOIN person p ON p.key = c.person WHERE p.id = ?)`
    const statements = [{ sql, values: [now, id, now, user], mustChange: true }]
    return (await this.#engine.change({ type: "statements", statements })).ok
  }

  /** What stands in the event that opened a proposal, and which of its proposals it is. Undefined where that is gone by now. */
  async #openingOf({ id, conversation, position }: Row): Promise<Opening | undefined> {
    const [row] = await this.#engine.events(conversation, { after: position - 1, upTo: position, limit: 1 })
    if (!row) return undefined // erased, with its conversation, since the proposal was found
    const event = toEvent(row) as EventOf<"awaiting_confirmation" | "proposal">
    const all = event.type === "proposal" ? [event.proposal] : event.proposals
    const index = all.findIndex((candidate) => candidate.id === id)
    const proposed = all[index]
    if (!proposed) throw new Error(`${id} does not stand in the event that opened it`)
    return { proposed, index, at: event.at }
  }

  async #toProposals(rows: readonly Row[]): Promise<Proposal[]> {
    const found = await Promise.all(rows.map((row) => this.#toProposal(row)))
    return found.filter((proposal) => proposal !== undefined)
  }

  async #toProposal(row: Row): Promise<Proposal | undefined> {
    const opening = await this.#openingOf(row)
    return opening && this.#toWords(row, opening)
  }

  async #toWords(row: Row, { proposed, at }: Opening): Promise<Proposal> {
    const { id, code } = row
    const { callId, tool, action, summary, title, diff = null, undoable, version, hash } = proposed
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
      ...(title === undefined ? {} : { title }),
      ...(proposed.insists ? { insists: true } : {}),
      ...(proposed.sends ? { sends: true } : {}),
      version,
      hash,
      status: late ? "expired" : row.status,
      ...(code === null ? {} : { code }),
      createdAt: toTime(at),
      expiresAt: toTime(row.expires_at),
      ...(row.seen_at === null ? {} : { seenAt: toTime(row.seen_at) }),
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
