import type { Conversation } from "../../engine/conversation.ts"
import type { ContextMeter, ConversationView } from "../../protocol/conversation/conversation.ts"
import type { Message } from "../../protocol/conversation/message.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { ConversationPorts } from "./ports.ts"

/** Of a longer one only its newest messages are looked at: to fold thousands of events takes longer than to show it. */
const MAX_FOLDED = 1000
/** As everywhere where nobody has counted. */
const CHARACTERS_A_TOKEN = 4

type Used = Pick<ContextMeter, "usedTokens" | "estimated">

/** How full a conversation is, for the model that would answer next. */
export async function readMeter(
  { journal, models, conversations }: Pick<ConversationPorts, "journal" | "models" | "conversations">,
  user: UserId,
  seen: Pick<ConversationView, "id" | "model" | "position"> & { readonly newest: readonly Message[] },
): Promise<ContextMeter> {
  const { id, model, position, newest } = seen
  const isShort = position <= MAX_FOLDED
  const [used, listed, costUsd] = await Promise.all([
    isShort ? journal.load(id, true).then(usedByFold) : usedByMessages(newest),
    models.list(user),
    conversations.cost(id),
  ])
  const limitTokens = listed.find(({ name }) => name === model)?.contextTokens ?? null
  return { ...used, limitTokens, costUsd }
}

/** What the provider counted stands for all that it was shown; of what came and went since, only our estimate is known. */
function usedByFold({ tokens, run }: Conversation): Used {
  if (!run?.counted) return { usedTokens: tokens, estimated: true }
  const { counted } = run
  return { usedTokens: Math.max(0, counted.tokens + tokens - counted.estimated), estimated: false }
}

/** The same, but for what has given way since the last reply; with the next one that is told too. */
function usedByMessages(newest: readonly Message[]): Used {
  const at = newest.findLastIndex(({ usage }) => typeof usage?.inputTokens === "number")
  const { inputTokens = 0, outputTokens = 0 } = newest[at]?.usage ?? {}
  const since = newest.slice(at + 1).reduce((sum, { content, length }) => sum + (length ?? content.length), 0)
  const counted = (inputTokens ?? 0) + (outputTokens ?? 0)
  return { usedTokens: counted + Math.ceil(since / CHARACTERS_A_TOKEN), estimated: at < 0 }
}
