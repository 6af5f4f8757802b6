import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { isSettled } from "../../protocol/proposals/status-after-call.ts"
import { proposalItem } from "./reduce-calls.ts"
import type { Item, Transcript } from "./transcript.ts"

/**
 * A transcript that was begun with an answer of `readConversation`, and beside its calls what was proposed and decided of
 * them earlier: what a stream would have brought. Oldest first; what is not of this transcript is left out.
 */
export function withDecided(transcript: Transcript, decided: readonly Proposal[]): Transcript {
  const known = new Set<string>(transcript.items.map(({ key }) => key))
  const added = decided.filter(({ id, callId, status }) => isSettled(status) && known.has(callId) && !known.has(id))
  if (added.length === 0) return transcript
  const byCall = Map.groupBy(added, ({ callId }) => callId as string)
  const items = transcript.items.flatMap((item): Item[] =>
    item.type === "call" ? [item, ...(byCall.get(item.key) ?? []).map((each) => proposalItem(each))] : [item],
  )
  return { ...transcript, items }
}
