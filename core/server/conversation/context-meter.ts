import type { Conversation } from "../../engine/conversation.ts"
import type { ContextMeter, ConversationView } from "../../protocol/conversation/conversation.ts"
import type { Message } from "../../protocol/conversation/message.ts"
import { type ConversationId, newId, type UserId } from "../../protocol/ids.ts"
import { toolsToShow } from "../../engine/declared-tools.ts"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { estimateTokens } from "../../engine/history/tokens.ts"
import type { ConversationPorts } from "./ports.ts"

/**
 * For a longer conversation only its newest messages are counted: replaying thousands of events takes longer than showing
 * it.
 */
const MAX_REPLAYED = 1000
/** The usual estimate if a provider does not report tokens. */
const CHARACTERS_A_TOKEN = 4

type Used = Pick<ContextMeter, "usedTokens" | "estimated">

/** How full the context window is, for the model that answers next. */
export async function readMeter(
  { journal, models, conversations }: Pick<ConversationPorts, "journal" | "models" | "conversations">,
  user: UserId,
  seen: Pick<ConversationView, "id" | "model" | "position"> & { readonly newest: readonly Message[] },
): Promise<ContextMeter> {
  const { id, model, position, newest } = seen
  const isShort = position <= MAX_REPLAYED
  const [used, listed, costUsd] = await Promise.all([
    isShort ? journal.load(id, true).then(usedByState) : usedByMessages(newest),
    models.list(user),
    conversations.cost(id),
  ])
  const limitTokens = listed.find(({ name }) => name === model)?.contextTokens ?? null
  return { ...used, limitTokens, costUsd }
}

/** The provider's count covers everything it was sent; changes since then are estimated. */
function usedByState({ tokens, run }: Conversation): Used {
  if (!run?.counted) return { usedTokens: tokens, estimated: true }
  const { counted } = run
  return { usedTokens: Math.max(0, counted.tokens + tokens - counted.estimated), estimated: false }
}

/** The estimated tokens of an agent's next request, before its message. Without a conversation, of a first request. */
export async function estimateRequest(
  { agents, journal }: Pick<ConversationPorts, "agents" | "journal">,
  user: UserId,
  { agent: name, id }: { readonly agent: string; readonly id: ConversationId | undefined },
): Promise<number> {
  const agent = agents.get(name)
  const state = id ? await journal.load(id, true) : emptyConversation(newId("conv", user), user)
  const { usedTokens, estimated } = usedByState(state)
  const sent = [agent.instructions, ...toolsToShow(state, agent).map((tool) => JSON.stringify(tool))]
  return estimated ? sent.reduce((sum, text) => sum + estimateTokens(text), usedTokens) : usedTokens
}

/** How full it is, from messages alone. Ignores what compaction removed since the last reply; the next reply corrects that. */
function usedByMessages(newest: readonly Message[]): Used {
  const at = newest.findLastIndex(({ usage }) => typeof usage?.inputTokens === "number")
  const { inputTokens = 0, outputTokens = 0 } = newest[at]?.usage ?? {}
  const since = newest.slice(at + 1).reduce((sum, { content, length }) => sum + (length ?? content.length), 0)
  const counted = (inputTokens ?? 0) + (outputTokens ?? 0)
  return { usedTokens: counted + Math.ceil(since / CHARACTERS_A_TOKEN), estimated: at < 0 }
}
