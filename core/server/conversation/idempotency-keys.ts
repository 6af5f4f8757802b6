import type { Context } from "hono"
import { failure } from "../../protocol/errors.ts"
import { type ConversationId, type MessageId, newId, type UserId, slotDigitsOf } from "../../protocol/ids.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { createHash } from "node:crypto"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { conversationOf } from "./find.ts"
import type { ConversationPorts, MessageKeys } from "./ports.ts"

const KEY_HEADER = "idempotency-key"
const MAX_KEY = 255

export const hasIdempotencyKey = (c: Context<Env>): boolean => c.req.header(KEY_HEADER) !== undefined

export function readIdempotencyKey(c: Context<Env>): string | undefined {
  const key = c.req.header(KEY_HEADER)
  if (key !== undefined && (key === "" || key.length > MAX_KEY))
    throw failure("bad_request", { problem: `Idempotency-Key: 1 to ${MAX_KEY} characters.` })
  return key
}

/** A new message id, or the one that was created when the caller first sent this key. */
export const messageIdFor = (
  c: Context<Env>,
  ports: { readonly messageKeys: MessageKeys },
  { id, body }: { id: ConversationId; body: unknown },
): Promise<KeyedMessage> => messageIdOfKey(ports, { user: userOf(c), id, key: readIdempotencyKey(c), body })

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

/** The same for a key that is not a header. */
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

/** The conversation id for a person's key. Depends on the person, so that another person's equal key does not collide. */
export function conversationIdOfKey(user: UserId, key: string): ConversationId {
  const digits = createHash("sha256")
    .update(JSON.stringify([user, key]))
    .digest("hex")
    .slice(0, 18)
  return `conv_${digits}${slotDigitsOf(user)}` as ConversationId
}

interface ConversationKey {
  readonly user: UserId
  readonly key: string
  begin(id: ConversationId): Promise<unknown>
}

/**
 * The conversation for a key, created if it does not exist. It exists before its message: if the first request dies in
 * between, or two come at once, the next one finds it and sends the same message to it.
 */
export async function conversationForKey(
  ports: Pick<ConversationPorts, "conversations">,
  { user, key, begin }: ConversationKey,
): Promise<ConversationView> {
  const id = conversationIdOfKey(user, key)
  const known = await ports.conversations.find(user, id)
  if (known) return known
  try {
    await begin(id)
  } catch (error) {
    const existing = await ports.conversations.find(user, id)
    if (!existing) throw error
    return existing
  }
  return conversationOf(ports, user, id)
}

/**
 * The message id for a client's own name of it: the same however often it is sent, even days later, so that a message
 * whose answer was lost is not recorded twice.
 */
export function messageIdOfName(conversation: ConversationId, name: string): MessageId {
  const digits = createHash("sha256")
    .update(JSON.stringify([conversation, name]))
    .digest("hex")
    .slice(0, 18)
  return `msg_${digits}${slotDigitsOf(conversation)}` as MessageId
}
