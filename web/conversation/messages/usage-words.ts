import type { Usage } from "../../../src/protocol/index.ts"
import { count, dollars } from "../../parts/words.ts"

/** What model calls have used and cost, as far as their provider says. */
export function inWords({ inputTokens, outputTokens, cost }: Usage): string {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0)
  const parts = [
    tokens > 0 ? count(tokens, "token") : "",
    cost === null || cost === undefined || (cost === 0 && tokens === 0) ? "" : dollars(cost),
  ]
  return parts.filter(Boolean).join(" · ")
}
