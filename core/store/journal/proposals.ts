import type { Page } from "../../protocol/answers.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { AuditId, CallId, ConversationId, ProposalId, UserId } from "../../protocol/ids.ts"
import type { Proposal, Proposed } from "../../protocol/proposals/proposal.ts"
import { MAX_PAGE_BYTES, type ProposalQuery } from "../../protocol/requests.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { parseTimeCursor } from "../engine/newest-first.ts"
import type { Engine } from "../engine/engine.ts"
import { toEvent } from "../engine/event-rows.ts"
import { bytesOf, fittingRows, MAX_LIST_READ_BYTES } from "../engine/page-bytes.ts"
import { ProposalOwners } from "../proposals/owners.ts"
import { conditionOf, scansOf, type ProposalFilter } from "../proposals/proposal-scans.ts"
import { type ProposalStateRow, toProposalView } from "../proposals/proposal-view.ts"
import { HAS_EXPIRED, openIn } from "../proposals/states.ts"

interface Row extends ProposalStateRow {
  readonly conversation: number
  readonly conversation_id: ConversationId
  readonly position: number
  /** The size of the event that opened it, for lists. */
  readonly bytes?: number | null
}

interface NewestOptions {
  readonly cursor?: string | undefined
  readonly limit: number
  readonly now: number
}

/** The kinds of proposals in a person's inbox, in this order. */
const INBOX: readonly ProposalFilter[] = [
  { status: "pending" },
  { status: "in_doubt" },
  { status: "expired", seen: false },
]

type OpeningEvent = EventOf<"awaiting_confirmation" | "proposal">

interface ProposedCall {
  readonly id: CallId
  readonly input: JsonObject
}

interface Found {
  readonly row: Row
  readonly opening: Opening
  readonly proposal: Proposal
}

interface Opening {
  readonly proposed: Proposed
  readonly index: number
  readonly at: number
}

const COLUMNS = `q.id, q.conversation, c.id AS conversation_id, q.run_id, q.position, q.status, q.code, q.expires_at, q.seen_at`
const FROM = "FROM proposal q JOIN conversation c ON c.key = q.conversation"
const SELECT = `SELECT ${COLUMNS} ${FROM}`
/** Events that are read concurrently. */
const AT_ONCE = 16
const MAX_UNSEEN = 50

/** Reads proposals. Their content is in the event that opened them; the table has their state. */
export class SqlProposals {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #owners: ProposalOwners

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
    this.#owners = new ProposalOwners(engine)
  }

  /** Undefined if it does not exist or belongs to another person. */
  async find(user: UserId, id: ProposalId): Promise<Proposal | undefined> {
    const sql = `${SELECT} JOIN person p ON p.key = c.person WHERE q.id = ? AND p.id = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, user])
    return row && (await this.#toProposal(row, new OpeningEvents(this.#engine))).proposal
  }

  /** A person's proposals of all conversations, newest first. */
  async list(user: UserId, { cursor, limit, ...filter }: ProposalQuery): Promise<Page<Proposal>> {
    if (filter.conversationId === undefined) await this.#owners.assign()
    const rows = await this.#newest(user, [filter], { cursor, limit: limit + 1, now: this.#now() })
    const { found, end } = await this.#read(rows.slice(0, limit), MAX_PAGE_BYTES)
    return {
      items: found.map(({ proposal }) => proposal),
      nextCursor: end && end !== rows.at(-1) ? `${end.expires_at}.${end.id}` : null,
    }
  }

  /**
   * The first proposals that fit into this many bytes, at least one. An event is read once for all proposals that it
   * opened. `end`: the last row that was read, which may belong to an erased conversation.
   */
  async #read(rows: readonly Row[], most: number): Promise<{ found: Found[]; end: Row | undefined }> {
    const found: Found[] = []
    let [bytes, read] = [0, 0]
    let end: Row | undefined
    for (let at = 0; at < rows.length;) {
      const batch = fittingRows(countedOnce(rows.slice(at, at + AT_ONCE)))
      read += batch.reduce((sum, row) => sum + row.bytes, 0)
      if (end && read > MAX_LIST_READ_BYTES && most < Infinity) break
      const sources = new OpeningEvents(this.#engine)
      const proposals = await Promise.all(
        batch.map(async ({ row }) => ({ row, ...(await this.#toProposal(row, sources)) })),
      )
      for (const { row, opening, proposal } of proposals) {
        const size = proposal && most < Infinity ? Buffer.byteLength(JSON.stringify(proposal)) : 0
        if (found.length > 0 && (bytes += size) > most) return { found, end }
        if (found.length === 0) bytes = size
        if (proposal && opening) found.push({ row, opening, proposal })
        end = row
      }
      at += batch.length
    }
    return { found, end }
  }

  /** The newest of each of these kinds, newest first. */
  async #newest(user: UserId, kinds: readonly ProposalFilter[], { cursor, limit, now }: NewestOptions): Promise<Row[]> {
    const [time, last] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : parseTimeCursor(cursor)
    // One query for all kinds and tables: a row that moves between two queries would be in neither.
    const tables = kinds.flatMap((filter) => {
      const wanted = conditionOf(filter, now)
      return scansOf(user, filter).map(({ sql: table, values }) => {
        // The first condition is redundant, but tells the index where to start.
        const sql = `SELECT * FROM (SELECT ${COLUMNS} FROM ${table} AND ${wanted.sql} AND q.expires_at <= ?
          AND (q.expires_at < ? OR q.id < ?) ORDER BY q.expires_at DESC, q.id DESC LIMIT ?) AS found`
        return { sql, values: [...values, ...wanted.values, time, time, last, limit] }
      })
    })
    // Sorted by the database, whose collation may differ from ours.
    const sql = `SELECT listed.*, ${this.#size("listed")} FROM (${tables.map((table) => table.sql).join(" UNION ALL ")}) AS listed
      ORDER BY expires_at DESC, id DESC`
    return this.#engine.query<Row>(
      sql,
      tables.flatMap(({ values }) => values),
    )
  }

  /** SQL for the size of the event that opened a proposal. */
  #size(row: string): string {
    return `(SELECT ${bytesOf(this.#engine, ["e.body"])} FROM event e
      WHERE e.conversation = ${row}.conversation AND e.position = ${row}.position) AS bytes`
  }

  /** The open proposals of a conversation, oldest first. */
  async open(id: ConversationId): Promise<Proposal[]> {
    return this.#inOrder(
      await this.#engine.query<Row>(openIn(`${COLUMNS}, ${this.#size("q")}`, "c.id = ?"), [id, id]),
      Infinity,
    )
  }

  /** The newest expired proposals of a conversation that were not proposed again, oldest first. */
  async lapsed(id: ConversationId, limit: number): Promise<Proposal[]> {
    const sql = `SELECT ${COLUMNS}, ${this.#size("q")} ${FROM} WHERE c.id = ? AND q.${HAS_EXPIRED} ORDER BY q.position DESC LIMIT ?`
    return this.#inOrder(await this.#engine.query<Row>(sql, [id, limit]), MAX_PAGE_BYTES)
  }

  async #inOrder(rows: readonly Row[], most: number): Promise<Proposal[]> {
    const { found } = await this.#read(rows, most)
    found.sort((a, b) => a.row.position - b.row.position || a.opening.index - b.opening.index)
    return found.map(({ proposal }) => proposal)
  }

  /** A person's inbox: what waits for a decision, and what expired unseen. */
  async inbox(user: UserId, limit: number): Promise<Proposal[]> {
    await this.#owners.assign()
    const now = this.#now()
    const rows = await this.#newest(user, INBOX, { limit, now })
    const kindOf = ({ status, expires_at }: Row) => (status === "in_doubt" ? 1 : expires_at > now ? 0 : 2)
    const kinds = INBOX.map((_, kind) => rows.filter((row) => kindOf(row) === kind).slice(0, limit))
    const { found } = await this.#read(kinds.flat(), MAX_PAGE_BYTES)
    return found.map(({ proposal }) => proposal)
  }

  /** The newest expired proposals of a conversation that its person has not seen. */
  async expired(id: ConversationId): Promise<Proposal[]> {
    const sql = `SELECT ${COLUMNS}, ${this.#size("q")} ${FROM}
      WHERE c.id = ? AND q.${HAS_EXPIRED} AND q.seen_at IS NULL ORDER BY q.position DESC LIMIT ${MAX_UNSEEN}`
    return this.#inOrder(await this.#engine.query<Row>(sql, [id]), MAX_PAGE_BYTES)
  }

  /** Returns the audit id of the write that this proposal's run undoes, if the run is an undo. */
  async undoneBy({ conversationId, runId }: Proposal): Promise<AuditId | undefined> {
    const sql = `SELECT e.body FROM event e JOIN conversation c ON c.key = e.conversation
      WHERE c.id = ? AND e.type = 'run_started' AND e.message_id = ?`
    const [row] = await this.#engine.query<{ body: string }>(sql, [conversationId, runId])
    return row && (JSON.parse(row.body) as { undoes?: AuditId }).undoes
  }

  /** Records that the person has seen that it expired. False if it has not expired, or if that was recorded before. */
  async see(user: UserId, id: ProposalId): Promise<boolean> {
    const now = this.#now()
    const sql = `UPDATE proposal SET seen_at = ? WHERE id = ? AND seen_at IS NULL
      AND (status = 'expired' OR (status = 'pending' AND expires_at <= ?))
      AND conversation IN (SELECT c.key FROM conversation c JOIN person p ON p.key = c.person WHERE p.id = ?)`
    const statements = [{ sql, values: [now, id, now, user], mustChange: true }]
    return (await this.#engine.change({ type: "statements", statements })).ok
  }

  /** Finds a proposal in the event that opened it. Undefined if the event is gone. */
  async #openingOf({ id, conversation, position }: Row, sources: OpeningEvents): Promise<Opening | undefined> {
    const event = await sources.event(conversation, position)
    if (!event) return undefined // erased, with its conversation, since the proposal was found
    const all = event.type === "proposal" ? [event.proposal] : event.proposals
    const index = all.findIndex((candidate) => candidate.id === id)
    const proposed = all[index]
    if (!proposed) throw new Error(`${id} does not stand in the event that opened it`)
    return { proposed, index, at: event.at }
  }

  async #toProposal(row: Row, sources: OpeningEvents): Promise<{ opening?: Opening; proposal?: Proposal }> {
    const opening = await this.#openingOf(row, sources)
    return opening ? { opening, proposal: await this.#toView(row, opening, sources) } : {}
  }

  async #toView(row: Row, { proposed, at }: Opening, sources: OpeningEvents): Promise<Proposal> {
    const input = async () => (await sources.calls(row)).find(({ id }) => id === proposed.callId)?.input ?? {}
    const given = proposed.arguments ?? (await input())
    return toProposalView(row, row.conversation_id, { proposed, at, given }, this.#now())
  }
}

/** Reads the events of proposals once each. */
class OpeningEvents {
  readonly #engine: Engine
  readonly #events = new Map<string, Promise<OpeningEvent | undefined>>()
  readonly #calls = new Map<string, Promise<readonly ProposedCall[]>>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  event(conversation: number, position: number): Promise<OpeningEvent | undefined> {
    return once(this.#events, `${conversation} ${position}`, async () => {
      const [row] = await this.#engine.events(conversation, { after: position - 1, upTo: position, limit: 1 })
      return row && (toEvent(row) as OpeningEvent)
    })
  }

  /** A proposal that was not edited uses the arguments of its call, in the last reply before it. */
  calls({ conversation, position }: Row): Promise<readonly ProposedCall[]> {
    return once(this.#calls, `${conversation} ${position}`, async () => {
      const sql = `SELECT tool_calls FROM event WHERE conversation = ? AND position < ? AND tool_calls IS NOT NULL
        ORDER BY position DESC LIMIT 1`
      const [row] = await this.#engine.query<{ tool_calls: string }>(sql, [conversation, position])
      return JSON.parse(row?.tool_calls ?? "[]") as ProposedCall[]
    })
  }
}

function once<Value>(known: Map<string, Promise<Value>>, key: string, read: () => Promise<Value>): Promise<Value> {
  const value = known.get(key) ?? read()
  known.set(key, value)
  return value
}

/** Counts the bytes of an event with the first of its proposals. */
function countedOnce(rows: readonly Row[]): { readonly row: Row; readonly bytes: number }[] {
  const counted = new Set<string>()
  return rows.map((row) => {
    const key = `${row.conversation} ${row.position}`
    const isFirst = !counted.has(key)
    counted.add(key)
    return { row, bytes: isFirst ? Number(row.bytes ?? 0) : 0 }
  })
}
