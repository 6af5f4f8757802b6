import type { NewEvent } from "../../protocol/events.ts"
import { overcounted } from "../history/tokens.ts"
import { cutPoint, referencePoint } from "../history/cut.ts"
import { HISTORY_SHARE, type Model } from "../model.ts"
import type { Work } from "../record.ts"

/** A summary is a model call, so it must free this share of the budget. */
const WORTH = 0.25

/** A value of the setting that is not a model: summaries are turned off. */
export const NO_SUMMARIES = "none"

/**
 * Returns the event that must come before the model can read the history; undefined if it can. First long results are
 * replaced by references, because a tool can read them again. Then one summary is written. If there is none, the oldest
 * messages are cut off.
 */
export function shortenHistory(
  { conversation, ports }: Pick<Work, "conversation" | "ports">,
  model: Model,
): NewEvent | undefined {
  const share = model.contextTokens * HISTORY_SHARE
  // This runs before each model call, so files are inspected only if necessary.
  if (conversation.tokens <= share) return undefined
  const budget = share + overcounted(conversation.history, model)
  if (conversation.tokens <= budget) return undefined
  const references = referencePoint(conversation, budget)
  if (references) return { type: "compaction", what: "references", ...references }
  const { summaryModel } = ports
  const isWanted = summaryModel !== NO_SUMMARIES && (summaryModel !== undefined || model.decides !== false)
  // A summary that was tried at this message is not tried again, successful or not. The only option left is to cut.
  if (isWanted && conversation.seq > conversation.compaction.tried) {
    const point = cutPoint(conversation, budget, "replaced")
    // The previous summary is replaced as well, by one of about the same length.
    const [first] = conversation.marks
    const freed = (point?.tokens ?? 0) - (first?.isSummary ? first.tokens : 0)
    if (freed >= budget * WORTH) return { type: "compaction", what: "due", because: "full" }
  }
  const cut = cutPoint(conversation, budget)
  return cut && { type: "history_cut", ...cut }
}
