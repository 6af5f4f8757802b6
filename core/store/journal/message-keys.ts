import { createHash } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { ConversationId, MessageId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** How long a key stands for its message. */
const DAY_MS = 24 * 60 * 60 * 1000
const KEY = "(SELECT key FROM conversation WHERE id = ?)"
/** In the place of the body's hash: the message was taken back, and must not come again with its key. */
const WITHDRAWN = "withdrawn"

export interface KeyedMessage {
  readonly key: string
  /** What was asked, whole: the same key with another body is a mistake of the caller. */
  readonly body: string
  /** The message's id, if the key is new. */
  readonly messageId: MessageId
}

interface Row {
  readonly body: string
  readonly message_id: MessageId
}

/**
 * Keys that callers send with a message, so that they can send it again when the answer was lost. The key is recorded
 * before the message: a crash in between leaves a key without a message, which the next request then sends under the
 * same id; and a conversation takes an id once (accept.ts).
 */
export class SqlMessageKeys {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /** The message that a key stands for. `misused`: it was sent with another body. `withdrawn`: it was taken back. */
  async claim(
    id: ConversationId,
    { key, body, messageId }: KeyedMessage,
  ): Promise<MessageId | "misused" | "withdrawn"> {
    const [hashedKey, hashedBody] = [hashOf(key), hashOf(body)]
    const expired = `DELETE FROM message_key WHERE conversation = ${KEY} AND created_at <= ?`
    // The condition is the lock: of any number of racing requests one gets its row in, and all of them read that one.
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

/** Part of the commit that takes a message back. */
export function withdrawKey(id: ConversationId, message: MessageId): { sql: string; values: unknown[] } {
  const sql = `UPDATE message_key SET body = ? WHERE conversation = ${KEY} AND message_id = ?`
  return { sql, values: [WITHDRAWN, id, message] }
}

/** Of one length whatever callers send, and nothing of theirs in clear. */
const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url")
