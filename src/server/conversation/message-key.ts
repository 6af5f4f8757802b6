import type { Context } from "hono"
import { failure } from "../../protocol/errors.ts"
import { type ConversationId, type MessageId, newId, type UserId } from "../../protocol/ids.ts"
import { userOf } from "../door/caller.ts"
import type { Env } from "../door/request-env.ts"

/** Keys that make it safe to send a message again. */
export interface MessageKeys {
  claim(
    id: ConversationId,
    keyed: { readonly key: string; readonly body: string; readonly messageId: MessageId },
  ): Promise<MessageId | "misused" | "withdrawn">
}

const KEY_HEADER = "idempotency-key"
const MAX_KEY = 255

export const hasKey = (c: Context<Env>): boolean => c.req.header(KEY_HEADER) !== undefined

/** The key that the caller has sent, if any. */
export function readKey(c: Context<Env>): string | undefined {
  const key = c.req.header(KEY_HEADER)
  if (key !== undefined && (key === "" || key.length > MAX_KEY))
    throw failure("bad_request", { problem: `Idempotency-Key: 1 to ${MAX_KEY} characters.` })
  return key
}

/** A new id, or the one that the caller's key has stood for since it was first sent. */
export const messageIdFor = (
  c: Context<Env>,
  ports: { readonly messageKeys: MessageKeys },
  { id, body }: { id: ConversationId; body: unknown },
): Promise<KeyedMessage> => messageIdOfKey(ports, { user: userOf(c), id, key: readKey(c), body })

interface KeyedMessage {
  readonly messageId: MessageId
  readonly repeated: boolean
}

interface Keyed {
  readonly user: UserId
  readonly id: ConversationId
  readonly key: string | undefined
  readonly body: unknown
}

/** The same for a key that did not come as a header. */
export async function messageIdOfKey(
  { messageKeys }: { readonly messageKeys: MessageKeys },
  { user, id, key, body }: Keyed,
): Promise<KeyedMessage> {
  const messageId = newId("msg", user)
  if (key === undefined) return { messageId, repeated: false }
  const claimed = await messageKeys.claim(id, { key, body: JSON.stringify(body), messageId })
  if (claimed === "misused") throw failure("key_reused")
  if (claimed === "withdrawn") throw failure("message_withdrawn")
  return { messageId: claimed, repeated: claimed !== messageId }
}
