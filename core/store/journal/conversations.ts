import type { DelegatedCall, MessagesRead, Page } from "../../protocol/answers.ts"
import type { ConversationView, Run } from "../../protocol/conversation/conversation.ts"
import type { CallId, ConversationId, MessageId, RunId, UserId } from "../../protocol/ids.ts"
import type { Message } from "../../protocol/conversation/message.ts"
import { NOTICE_EVENTS } from "../../protocol/notices.ts"
import type { ConversationQuery, PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "../engine/engine.ts"
import { inPortions, padded } from "../../workspace/layout.ts"
import { toNumber } from "../engine/newest-first.ts"
import { bytesOf, fittingRows } from "../engine/page-bytes.ts"
import { EVENT_COLUMNS } from "../engine/event-rows.ts"
import { proposalLengths, readDecided } from "../proposals/decided-proposals.ts"
import { DEFAULT_PAUSE } from "./mirror-rows.ts"
import { findTitles } from "./titles.ts"
import {
  type BetweenMessagesRow,
  type ConversationRow,
  type RunRow,
  toMessage,
  toNoticeView,
  toRunView,
  toStep,
  toConversationView,
  toDelegatedCall,
} from "./views.ts"

/** The maximum calls of a reply. Only the results of one reply are stored out of order. */
const MAX_OUT_OF_ORDER = 256

/** The maximum of a page of messages, unless a single one is larger. Their texts are shortened afterwards. */
const PAGE_BYTES = 2_000_000

const VIEW = `SELECT c.key, c.id, c.title, c.agent, c.provider, c.model, c.mode, c.status, c.device, c.connection, c.settings, c.created_at, c.updated_at,
    (SELECT max(position) FROM event WHERE conversation = c.key) AS position
  FROM conversation c JOIN person p ON p.key = c.person`

/** When a paused run continues, only the conversation's row says so. The default pause reason is not stored. */
const RUN = `r.id, c.id AS conversation_id, CASE WHEN r.status = 'paused' AND c.status = 'running' THEN 'running' ELSE r.status END AS status,
    r.iteration, r.max_iterations,
    CASE WHEN r.status = 'paused' AND c.status <> 'running' THEN coalesce(r.pause_reason, '${DEFAULT_PAUSE}') END AS pause_reason,
    r.error_code, r.error_message, r.input_tokens, r.output_tokens, r.started_at, r.ended_at,
    coalesce(r.model, (SELECT max(u.model) FROM usage u WHERE u.run = r.id)) AS model,
    (SELECT CASE WHEN count(*) = count(u.cost) THEN CAST(sum(u.cost) AS BIGINT) END FROM usage u WHERE u.run = r.id) AS cost`

interface CallRow {
  readonly type: string
  readonly call_id: CallId
  readonly body: string | null
}

interface Range {
  readonly before?: number | undefined
  readonly upTo?: number
  readonly limit: number
}

/** Events that are shown between messages. */
const BETWEEN_MESSAGES = ["step", ...NOTICE_EVENTS].map((type) => `'${type}'`).join(", ")

const KEY = "(SELECT key FROM conversation WHERE id = ?)"

/** Reads conversations, messages and runs. Only the journal writes them. */
export class SqlConversations {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async list(user: UserId, { cursor, limit, search }: ConversationQuery): Promise<Page<ConversationView>> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : toNumber(cursor)
    if (search !== undefined) return this.#findByTitle(user, { text: search, before, limit })
    const sql = `${VIEW} WHERE p.id = ? AND c.key < ? ORDER BY c.key DESC LIMIT ?`
    const rows = await this.#engine.query<ConversationRow>(sql, [user, before, limit + 1])
    const items = rows.slice(0, limit)
    return { items: items.map(toConversationView), nextCursor: rows.length > limit ? String(items.at(-1)?.key) : null }
  }

  async #findByTitle(user: UserId, wanted: Parameters<typeof findTitles>[2]): Promise<Page<ConversationView>> {
    const { keys, next } = await findTitles(this.#engine, user, wanted)
    const marks = keys.map(() => "?").join(", ")
    const sql = `${VIEW} WHERE p.id = ? AND c.key IN (${marks}) ORDER BY c.key DESC`
    const rows = keys.length === 0 ? [] : await this.#engine.query<ConversationRow>(sql, [user, ...keys])
    return { items: rows.map(toConversationView), nextCursor: next === null ? null : String(next) }
  }

  /** Undefined if it does not exist or belongs to another person. */
  async find(user: UserId, id: ConversationId): Promise<ConversationView | undefined> {
    const [row] = await this.#engine.query<ConversationRow>(`${VIEW} WHERE c.id = ? AND p.id = ?`, [id, user])
    return row && toConversationView(row)
  }

  /** The last messages before a `seq` and up to a position, in order, with the decisions and events after each. */
  async messages(id: ConversationId, range: Range): Promise<MessagesRead> {
    const { before = Number.MAX_SAFE_INTEGER, upTo = Number.MAX_SAFE_INTEGER, limit } = range
    // Found by position, which has an index, and then cut by seq; the two orders differ slightly.
    const closest = `SELECT position, seq, ${bytesOf(this.#engine, ["content", "tool_calls", "body"])} AS bytes,
        CASE WHEN tool_calls IS NULL THEN 0 ELSE 1 END AS calls FROM event
      WHERE conversation = ${KEY} AND position <= ? AND role IS NOT NULL AND seq < ? ORDER BY position DESC LIMIT ?`
    const newest = `SELECT position, bytes, calls FROM (${closest}) AS closest ORDER BY seq DESC LIMIT ?`
    const values = [id, upTo, before, limit + MAX_OUT_OF_ORDER, limit]
    const found = await this.#engine.query<SizedMessage>(newest, values)
    const sized = withProposals(found, await this.#proposalLengths(id, found, upTo))
    const positions = fittingRows(sized, PAGE_BYTES).map(({ position }) => position)
    const rows = await this.#inOrder(id, positions)
    const items = rows.map(toMessage)
    if (items.length === 0) return { items, steps: [], notices: [], decided: [], lateResults: [] }
    const from = Math.min(...rows.map(({ position }) => position))
    const between = await this.#betweenMessages(id, { from, last: items.at(-1)?.seq ?? 0, upTo })
    // A result may come after the messages that follow it. An event is shown after the highest message before it, as it
    // was live.
    const events = between.map((row) => {
      const above = rows.findLastIndex(({ position }) => position < row.position)
      return { ...row, after: items[above]?.seq ?? 0 }
    })
    const steps = events.filter(({ type }) => type === "step").map(toStep)
    const notices = events.filter(({ type }) => type !== "step").flatMap((row) => toNoticeView(row) ?? [])
    const last = Math.max(...rows.map(({ position }) => position))
    return { items, steps, notices, ...(await readDecided(this.#engine, id, { from, last, upTo, messages: items })) }
  }

  /** Reads nothing if no message has calls. */
  async #proposalLengths(id: ConversationId, rows: readonly SizedMessage[], upTo: number) {
    const calling = rows.flatMap(({ position, calls }) => (calls ? [position] : []))
    if (calling.length === 0) return []
    const last = Math.max(...rows.map(({ position }) => position))
    return proposalLengths(this.#engine, id, { from: Math.min(...calling), last, upTo })
  }

  async #inOrder(id: ConversationId, positions: readonly number[]) {
    type Row = Record<string, unknown> & { position: number }
    const rows: Row[] = []
    for (const some of inPortions(positions)) {
      const marks = padded(some)
      const sql = `SELECT ${EVENT_COLUMNS} FROM event WHERE conversation = ${KEY} AND position IN (${marks.map(() => "?").join(", ")})`
      rows.push(...(await this.#engine.query<Row>(sql, [id, ...marks])))
    }
    return rows.sort((a, b) => Number(a.seq) - Number(b.seq))
  }

  /** Events after a position, up to the first message after the `last` one. */
  #betweenMessages(id: ConversationId, { from, last, upTo }: { from: number; last: number; upTo: number }) {
    const next = `SELECT min(position) FROM event
      WHERE conversation = ${KEY} AND position > ? AND role IS NOT NULL AND seq > ?`
    const sql = `SELECT position, type, at, body FROM event
      WHERE conversation = ${KEY} AND type IN (${BETWEEN_MESSAGES}) AND position > ? AND position <= ?
      AND position < coalesce((${next}), ?) ORDER BY position`
    const values = [id, from, upTo, id, from, last, Number.MAX_SAFE_INTEGER]
    return this.#engine.query<Omit<BetweenMessagesRow, "after">>(sql, values)
  }

  /** One message, complete. */
  async message(id: ConversationId, message: MessageId): Promise<Message | undefined> {
    const sql = `SELECT ${EVENT_COLUMNS} FROM event WHERE conversation = ${KEY} AND message_id = ? AND role IS NOT NULL`
    const [row] = await this.#engine.query<Record<string, unknown>>(sql, [id, message])
    return row && toMessage(row)
  }

  /** The messages of a run from a position on. */
  async messagesOfRun(id: ConversationId, from: number): Promise<Message[]> {
    const next = `SELECT min(position) FROM event WHERE conversation = ${KEY} AND type = 'run_started' AND position > ?`
    const sql = `SELECT ${EVENT_COLUMNS} FROM event WHERE conversation = ${KEY} AND position >= ?
      AND position < coalesce((${next}), ?) AND role IS NOT NULL ORDER BY seq`
    const values = [id, from, id, from, Number.MAX_SAFE_INTEGER]
    return (await this.#engine.query<Record<string, unknown>>(sql, values)).map(toMessage)
  }

  /** Calls that wait for a client, up to a position. They belong to the newest reply, so nothing before it is read. */
  async handedOver(id: ConversationId, upTo: number): Promise<DelegatedCall[]> {
    const reply = `SELECT max(position) FROM event WHERE conversation = ${KEY} AND position <= ? AND role = 'assistant'`
    const sql = `SELECT type, call_id, body FROM event WHERE conversation = ${KEY}
      AND position > (${reply}) AND position <= ? AND type IN ('handed_over', 'tool_end') ORDER BY position`
    const waiting = new Map<CallId, DelegatedCall>()
    for (const { type, call_id: callId, body } of await this.#engine.query<CallRow>(sql, [id, id, upTo, upTo])) {
      const call = type === "handed_over" ? toDelegatedCall(body) : undefined
      if (call) waiting.set(call.callId, call)
      else waiting.delete(callId)
    }
    return [...waiting.values()]
  }

  /**
   * The position where the newest run started or last paused. Events after it are new to a client that saw the pause.
   */
  async lastPause(id: ConversationId): Promise<number | undefined> {
    const sql = `SELECT max(position) AS position FROM event WHERE conversation = ${KEY}
      AND type IN ('run_started', 'awaiting_confirmation', 'in_doubt', 'handed_over')`
    const [row] = await this.#engine.query<{ position: number | null }>(sql, [id])
    return row?.position ?? undefined
  }

  /** The position of a user message; `waiting` while it is in the inbox, undefined if it never arrived. */
  async placeOf(id: ConversationId, message: MessageId): Promise<number | "waiting" | undefined> {
    const positionSql = `SELECT position FROM event WHERE conversation = ${KEY} AND message_id = ? AND role = 'user'`
    const find = async () => (await this.#engine.query<{ position: number }>(positionSql, [id, message]))[0]?.position
    const position = await find()
    if (position !== undefined) return position
    const sql = `SELECT body FROM inbox WHERE conversation = ${KEY}`
    const waiting = await this.#engine.query<{ body: string }>(sql, [id])
    if (waiting.some(({ body }) => (JSON.parse(body) as { id?: string }).id === message))
      return (await find()) ?? "waiting" // a second copy of it may wait, which counts for nothing
    return find() // it may have been consumed between the two queries
  }

  /** The start of the run that a position belongs to; 0 before the first run. */
  async runStart(id: ConversationId, position: number): Promise<number> {
    const sql = `SELECT max(position) AS position FROM event WHERE conversation = ${KEY}
      AND type = 'run_started' AND position <= ?`
    const [row] = await this.#engine.query<{ position: number | null }>(sql, [id, position])
    return row?.position ?? 0
  }

  /** The first and last possible position of a run. Undefined if the conversation does not have it. */
  async rowsOfRun(id: ConversationId, run: RunId): Promise<{ start: number; upTo: number } | undefined> {
    const next = `SELECT min(position) FROM event WHERE conversation = s.conversation AND type = 'run_started'
      AND position > s.position`
    const sql = `SELECT s.position AS start, (${next}) AS next FROM event s
      WHERE s.conversation = ${KEY} AND s.message_id = ? AND s.type = 'run_started'`
    const [row] = await this.#engine.query<{ start: number; next: number | null }>(sql, [id, run])
    return row && { start: row.start, upTo: (row.next ?? Number.MAX_SAFE_INTEGER) - 1 }
  }

  /** The run of a message. Undefined if the conversation does not have it. */
  async runOfMessage(id: ConversationId, message: MessageId): Promise<RunId | undefined> {
    const positionSql = `SELECT position FROM event WHERE conversation = ${KEY} AND message_id = ? AND role IS NOT NULL`
    const sql = `SELECT message_id AS run FROM event WHERE conversation = ${KEY} AND type = 'run_started'
      AND position < (${positionSql}) ORDER BY position DESC LIMIT 1`
    const [row] = await this.#engine.query<{ run: RunId }>(sql, [id, id, message])
    return row?.run
  }

  /** Newest first, found through the journal, so that runs need no index of their own. */
  async runs(id: ConversationId, { cursor, limit }: PageQuery): Promise<Page<Run>> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : toNumber(cursor)
    const sql = `SELECT ${RUN}, e.position FROM event e JOIN run r ON r.id = e.message_id
        JOIN conversation c ON c.key = e.conversation
      WHERE e.conversation = ${KEY} AND e.type = 'run_started' AND e.position < ? ORDER BY e.position DESC LIMIT ?`
    const rows = await this.#engine.query<RunRow & { position: number }>(sql, [id, before, limit + 1])
    const items = rows.slice(0, limit)
    return { items: items.map(toRunView), nextCursor: rows.length > limit ? String(items.at(-1)?.position) : null }
  }

  /** The cost of its model calls in dollars; null if no price is known. */
  async cost(id: ConversationId): Promise<number | null> {
    const sql = "SELECT CAST(sum(cost) AS BIGINT) AS cost FROM usage WHERE conversation = ?"
    const [row] = await this.#engine.query<{ cost: number | null }>(sql, [id])
    return typeof row?.cost === "number" ? row.cost / 1_000_000 : null
  }

  /** The run of any person: for operators, never for a route. */
  async runOfAnybody(id: RunId): Promise<{ readonly run: Run; readonly user: UserId } | undefined> {
    const sql = `SELECT ${RUN}, p.id AS person FROM run r JOIN conversation c ON c.key = r.conversation
        JOIN person p ON p.key = c.person WHERE r.id = ?`
    const [row] = await this.#engine.query<RunRow & { person: UserId }>(sql, [id])
    return row && { run: toRunView(row), user: row.person }
  }

  async run(user: UserId, id: RunId): Promise<Run | undefined> {
    const sql = `SELECT ${RUN} FROM run r JOIN conversation c ON c.key = r.conversation JOIN person p ON p.key = c.person
      WHERE r.id = ? AND p.id = ?`
    const [row] = await this.#engine.query<RunRow>(sql, [id, user])
    return row && toRunView(row)
  }
}

/** A message with its size, before it is read. */
interface SizedMessage {
  readonly position: number
  readonly bytes: number
  readonly calls: number
}

/** Newest first. A proposal is read with the reply before it. */
function withProposals(
  rows: readonly SizedMessage[],
  proposals: readonly { readonly position: number; readonly length: number }[],
): SizedMessage[] {
  const sized = rows.map((row) => ({ ...row, bytes: Number(row.bytes) }))
  for (const { position, length } of proposals) {
    const reply = sized.find((row) => row.calls && row.position < position)
    if (reply) reply.bytes += Number(length)
  }
  return sized
}
