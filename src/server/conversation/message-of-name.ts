import { createHash } from "node:crypto"
import { type ConversationId, type MessageId, slotDigitsOf } from "../../protocol/ids.ts"

/**
 * The message that a client's own name for it stands for in a conversation: the same however often it is sent, also days
 * later, so that words whose answer was lost are not said twice.
 */
export function messageOfName(conversation: ConversationId, name: string): MessageId {
  const digits = createHash("sha256")
    .update(JSON.stringify([conversation, name]))
    .digest("hex")
    .slice(0, 18)
  return `msg_${digits}${slotDigitsOf(conversation)}` as MessageId
}
