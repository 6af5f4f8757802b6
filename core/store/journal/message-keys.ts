import { createHash } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { ConversationId, MessageId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** How long a key identifies its message. */
const DAY_MS = 24 * 60 * 60 * 1000
const KEY = "(SELECT key FROM conversation WHERE id = ?)"
/** Stored in place of the body's hash if the message was withdrawn, so that its key cannot send it again. */
const WITHDRAWN = "withdrawn"

export interface KeyedMessage {
  readonly key: string
  /** The complete request: the same key with another body is an error of the caller. */
  readonly body: string
  /** The id of the message, if the key is new. */
  readonly messageId: MessageId
}

interface Row {
  readonly body: string
  readonly message_id: MessageId
}

/**
 * Idempotency keys of messages, so that a caller can repeat a request whose answer was lost. The key is recorded before
 * the message. After a crash in between, the next request sends the message with the same id, and a conversation
 * accepts an id once (accept.ts).
 */
export class SqlMessageKeys {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /** The message of a key. `misused`: it was sent with another body. `withdrawn`: the message was withdrawn. */
  async claim(
    id: ConversationId,
    { key, body, messageId }: KeyedMessage,
  ): Promise<MessageId | "misused" | "withdrawn"> {
    const [hashedKey, hashedBody] = [hashOf(key), hashOf(body)]
    const expired = `DELETE FROM message_key WHERE conversation = ${KEY} AND created_at <= ?`
    // The condition is the lock: of several racing requests one inserts its row, and all of them read that row.
    const insert = `INSERT INTO message_key (conversation, key, body, message_id, created_at)
      SELECT key, ?, ?, ?, ? FROM conversation WHERE id = ? ON CONFLICT (conversation, key) DO NOTHING`
    const now = this.#now()
    await this.#engine.change({
      type: "statements",
      statements: [
        { sql: expired, values: [id, now - DAY_MS] },
        { sql: insert, values: [hashedKey, hashedBody, messageId, now, id] },
      ],
    })
    const sql = `SELECT body, message_id FROM message_key WHERE conversation = ${KEY} AND key = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, hashedKey])
    if (!row) throw failure("not_found") // deleted in this moment
    if (row.body === WITHDRAWN) return "withdrawn"
    return row.body === hashedBody ? row.message_id : "misused"
  }
}

/** Part of the commit that withdraws a message. */
export function withdrawKey(id: ConversationId, message: MessageId): { sql: string; values: unknown[] } {
  const sql = `UPDATE message_key SET body = ? WHERE conversation = ${KEY} AND message_id = ?`
  return { sql, values: [WITHDRAWN, id, message] }
}

/** Has one length for any input, and stores nothing of the caller in clear text. */
const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url")
