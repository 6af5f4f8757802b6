import type { Conversation } from "../../agent/conversation.ts"
import type { ContextMeter } from "../../protocol/conversation/context-meter.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { ConversationPorts } from "./ports.ts"

/** How full a conversation is, for the model that would answer next. */
export async function readMeter(
  { journal, models, conversations }: Pick<ConversationPorts, "journal" | "models" | "conversations">,
  user: UserId,
  { id, model }: Pick<ConversationView, "id" | "model">,
): Promise<ContextMeter> {
  const [conversation, listed, cost] = await Promise.all([journal.load(id), models.list(user), conversations.cost(id)])
  const limit = listed.find(({ name }) => name === model)?.contextTokens ?? null
  return { ...toUsed(conversation), limit, cost }
}

/** What the provider counted stands for all that it was shown; of what came and went since, only our estimate is known. */
function toUsed({ tokens, run }: Conversation): Pick<ContextMeter, "used" | "estimated"> {
  if (!run?.counted) return { used: tokens, estimated: true }
  const { counted } = run
  return { used: Math.max(0, counted.tokens + tokens - counted.estimated), estimated: false }
}
