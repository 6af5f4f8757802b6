import { createHash } from "node:crypto"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { type ConversationId, slotDigitsOf, type UserId } from "../../protocol/ids.ts"
import { conversationOf } from "./find.ts"
import type { ConversationPorts } from "./ports.ts"

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

interface Keyed {
  readonly user: UserId
  readonly key: string
  begin(id: ConversationId): Promise<unknown>
}

/**
 * That conversation, begun where it is not there yet. It is there before the words are: when the first request dies in
 * between, or two come at once, the next one finds it and says the same words in it.
 */
export async function conversationForKey(
  ports: Pick<ConversationPorts, "conversations">,
  { user, key, begin }: Keyed,
): Promise<ConversationView> {
  const id = conversationOfKey(user, key)
  const known = await ports.conversations.find(user, id)
  if (known) return known
  try {
    await begin(id)
  } catch (error) {
    const others = await ports.conversations.find(user, id)
    if (!others) throw error
    return others
  }
  return conversationOf(ports, user, id)
}
