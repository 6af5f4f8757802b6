import { count, dollars } from "../../client/words.ts"
import type { Usage } from "../../protocol/conversation/message.ts"

/** What model calls have used and cost, as far as their provider says. */
export function usageWords({ inputTokens, outputTokens, cost }: Usage): string {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0)
  if (tokens === 0) return ""
  return count(tokens, "token") + (cost ? ` · ${dollars(cost)}` : "")
}
