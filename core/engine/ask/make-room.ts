import type { NewEvent } from "../../protocol/events.ts"
import { overcounted } from "../history/tokens.ts"
import { cutPoint, referencePoint } from "../history/cut.ts"
import { HISTORY_SHARE, type Model } from "../model.ts"
import type { Work } from "../record.ts"

/** A summary is a model call: it has to free so much of the budget. */
const WORTH = 0.25

/** A setting that is no model: nothing is summed up. */
export const NO_SUMMARIES = "none"

/**
 * What has to happen before a model can read the history; undefined where it can. Results give way first, because a tool
 * reads them again; then a summary is made, once; where there is none, the beginning is cut off.
 */
export function makeRoom(
  { conversation, ports }: Pick<Work, "conversation" | "ports">,
  model: Model,
): NewEvent | undefined {
  const share = model.contextTokens * HISTORY_SHARE
  // Asked before each call of a model: files are looked for only where it matters.
  if (conversation.tokens <= share) return undefined
  const budget = share + overcounted(conversation.history, model)
  if (conversation.tokens <= budget) return undefined
  const references = referencePoint(conversation, budget)
  if (references) return { type: "compaction", what: "references", ...references }
  const { summaryModel } = ports
  const isWanted = summaryModel !== NO_SUMMARIES && (summaryModel !== undefined || model.decides !== false)
  // One that was tried at this very message, made or not, is not tried again: what is left to do is to cut.
  if (isWanted && conversation.seq > conversation.compaction.tried) {
    const point = cutPoint(conversation, budget, "replaced")
    // The summary before gives way too, but to one that is about as long.
    const [first] = conversation.marks
    const freed = (point?.tokens ?? 0) - (first?.isSummary ? first.tokens : 0)
    if (freed >= budget * WORTH) return { type: "compaction", what: "due", because: "full" }
  }
  const cut = cutPoint(conversation, budget)
  return cut && { type: "history_cut", ...cut }
}
