import { createHash } from "node:crypto"
import { type ConversationId, slotDigitsOf, type UserId } from "../../../protocol/ids.ts"

/**
 * The conversation that a person's key begins. The same key makes the same one however often it comes; another person's
 * makes another, so that nobody finds a name taken by somebody else.
 */
export function conversationOfKey(user: UserId, key: string): ConversationId {
  const digits = createHash("sha256")
    .update(JSON.stringify([user, key]))
    .digest("hex")
    .slice(0, 18)
  return `conv_${digits}${slotDigitsOf(user)}` as ConversationId
}
