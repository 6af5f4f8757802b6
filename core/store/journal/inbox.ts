import type { Conversation } from "../../engine/conversation.ts"
import type { Input, MessageInput } from "../../engine/input.ts"
import type { Page, QueuedMessage } from "../../protocol/answers.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { ConversationId, InboxId, MessageId } from "../../protocol/ids.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import type { Engine } from "../engine/engine.ts"
import { toNumber } from "../engine/newest-first.ts"
import { bytesOf, fittingRows } from "../engine/page-bytes.ts"
import { bookkeepingOf } from "./bookkeeping.ts"
import { withdrawKey } from "./message-keys.ts"
import { toTime } from "../engine/row-values.ts"

interface WaitingRow {
  readonly arrivals: number
  readonly number: number
  readonly id: InboxId
  readonly body: string
}

/** Only the count if nothing waits. */
type InboxRow = WaitingRow | { readonly arrivals: number; readonly number: null }

/** Reads the inbox. One statement reads the count and the rows, so that they match. */
export async function readInbox(engine: Engine, conversation: Conversation): Promise<void> {
  const bookkeeping = bookkeepingOf(conversation)
  const sql = `SELECT c.arrivals, i.number, i.id, i.body FROM conversation c LEFT JOIN inbox i ON i.conversation = c.key
    WHERE c.key = ? ORDER BY i.number`
  const rows = await engine.query<InboxRow>(sql, [bookkeeping.key])
  const arrivals = rows[0]?.arrivals ?? 0
  if (arrivals < bookkeeping.seen) return // a later read was faster
  const waiting = rows.filter((row): row is WaitingRow => row.number !== null && !bookkeeping.taken?.has(row.number))
  conversation.inbox = waiting.map(({ number, id, body }) => ({ number, id, input: JSON.parse(body) as Input }))
  bookkeeping.seen = arrivals
  conversation.arrivals = Math.max(conversation.arrivals, arrivals)
}

const KEY = "(SELECT key FROM conversation WHERE id = ?)"

interface QueueRow {
  readonly id: InboxId
  readonly body: string
  readonly created_at: number
}

interface Waiting {
  readonly row: QueueRow
  readonly message: MessageInput
}

/** Queued messages as their author sees them: readable, editable and removable until they are consumed. */
export class SqlQueue {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** A page, in the order of arrival. */
  async list(id: ConversationId, { cursor, limit }: PageQuery): Promise<Page<QueuedMessage>> {
    const after = cursor === undefined ? -1 : toNumber(cursor)
    const sql = `SELECT number, ${bytesOf(this.#engine, ["body"])} AS bytes FROM inbox
      WHERE conversation = ${KEY} AND number > ? ORDER BY number LIMIT ?`
    const found = await this.#engine.query<{ number: number; bytes: number }>(sql, [id, after, limit + 1])
    const end = fittingRows(found.slice(0, limit)).at(-1)?.number ?? after
    const waiting = await this.#waiting(id, { after, upTo: end })
    const last = found.at(-1)?.number ?? end
    return { items: toQueued(waiting), nextCursor: Number(end) < Number(last) ? String(end) : null }
  }

  async find(id: ConversationId, message: MessageId): Promise<QueuedMessage | undefined> {
    return toQueued((await this.#waiting(id)).filter((waiting) => waiting.message.id === message))[0]
  }

  /** False if the message no longer waits. An edited message loses the approval that its device attached. */
  edit(id: ConversationId, message: MessageId, changes: Pick<MessageInput, "text" | "asks">): Promise<boolean> {
    const sql = "UPDATE inbox SET body = ? WHERE id = ? AND body = ?"
    return this.#change(id, message, (row, { approves: _, ...input }) => [
      { sql, values: [toStorableJson({ ...input, ...changes }), row.id, row.body], mustChange: true },
    ])
  }

  withdraw(id: ConversationId, message: MessageId): Promise<boolean> {
    const sql = "DELETE FROM inbox WHERE id = ? AND body = ?"
    return this.#change(id, message, (row) => [
      { sql, values: [row.id, row.body], mustChange: true },
      withdrawKey(id, message),
    ])
  }

  /**
   * Moves the message to the end, so that it counts as sent now: a hold only covers messages from before the run was
   * stopped. In the commit that counts it, so that after a crash it is found as unread input.
   */
  release(id: ConversationId, message: MessageId, by: Pick<MessageInput, "asks"> = {}): Promise<boolean> {
    const now = "(SELECT arrivals FROM conversation WHERE id = ?)"
    const sql = `UPDATE inbox SET number = ${now}, body = ? WHERE id = ? AND body = ?`
    // A duplicate of the same key stays, and is ignored when its turn comes.
    return this.#change(id, message, (row, input, index) =>
      index === 0
        ? [{ sql, values: [id, toStorableJson({ ...input, ...by }), row.id, row.body], mustChange: true }]
        : [],
    )
  }

  /**
   * Counts as an arrival in the same commit. A writer that has read the inbox before finds its count out of date when
   * it consumes the message, and reads again, so it never consumes the old version.
   */
  async #change(
    id: ConversationId,
    message: MessageId,
    toStatements: (
      row: QueueRow,
      input: MessageInput,
      index: number,
    ) => { sql: string; values: unknown[]; mustChange?: boolean }[],
  ): Promise<boolean> {
    const count = { sql: "UPDATE conversation SET arrivals = arrivals + 1 WHERE id = ?", values: [id] }
    for (;;) {
      const found = (await this.#waiting(id)).filter((waiting) => waiting.message.id === message)
      if (found.length === 0) return false
      const changes = found.flatMap(({ row, message: input }, index) => toStatements(row, input, index))
      const outcome = await this.#engine.change({ type: "statements", statements: [count, ...changes] })
      if (outcome.ok) return true // otherwise another writer was faster: read the rest again
    }
  }

  async #waiting(id: ConversationId, { after = -1, upTo = Number.MAX_SAFE_INTEGER } = {}): Promise<Waiting[]> {
    const sql = `SELECT id, body, created_at FROM inbox WHERE conversation = ${KEY} AND number > ? AND number <= ? ORDER BY number`
    const rows = await this.#engine.query<QueueRow>(sql, [id, after, upTo])
    return rows.flatMap((row) => {
      const input = JSON.parse(row.body) as Input
      return input.type === "message" ? [{ row, message: input }] : []
    })
  }
}

/**
 * Two requests with one key may both have added the message. It is consumed once, so it is shown and changed as one.
 */
function toQueued(waiting: readonly Waiting[]): QueuedMessage[] {
  const byId = Map.groupBy(waiting, ({ message }) => message.id)
  return [...byId.values()]
    .map(([first]) => first as Waiting)
    .map(({ message, row }) => ({
      id: message.id,
      text: message.text,
      when: message.when === "steer" ? "steer" : "queue",
      ...(message.files ? { files: [...message.files] } : {}),
      createdAt: toTime(row.created_at),
    }))
}
