import type { EventOf } from "../../protocol/events.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { addUsage } from "../add-usage.ts"
import { type Conversation, madeProgress } from "../conversation.ts"
import { giveWay } from "../history/give-way.ts"
import { cutHistory } from "../history/cut.ts"
import { putFirst } from "../history/history.ts"
import { summaryWords } from "../history/summary-words.ts"

/** So many decisions are told again with each summary; older ones are in the journal, where a tool finds them. */
const MAX_DECISIONS = 40

/** Folds in how the history makes room. What it is made of is on record, so that every fold comes to the same. */
export function applyCompaction(conversation: Conversation, event: EventOf<"compaction">): void {
  const { compaction, run } = conversation
  if (run) {
    madeProgress(run)
    if (event.asked?.usage) run.usage = addUsage(run.usage, event.asked.usage)
  }
  if (event.what === "due" && event.problem !== undefined) {
    if (run) run.sumsUpItself = true // it was due before, and is
    return
  }
  if (event.what === "due") {
    compaction.due = event.because ?? "full"
    return
  }
  if (event.what === "references") giveWay(conversation, event.seq ?? 0)
  else Object.assign(compaction, { due: undefined, tried: conversation.seq })
  if (event.what === "summary") {
    cutHistory(conversation, { seq: event.seq ?? 0, summary: "dropped" }) // the one before is part of this one
    // A fork has no decisions of its own on record: those that the summary tells are told again by the next.
    compaction.decisions = [...(event.kept?.decisions ?? compaction.decisions)]
    putFirst(conversation, summaryWords(event))
  }
  if (event.what !== "failed") compaction.hasGivenWay = true
}

/** Keeps what was decided, for the next summary. */
export function noteDecision(
  { compaction: { decisions } }: Conversation,
  { summary }: Proposed,
  { decision, reason }: EventOf<"decision">,
): void {
  const why = reason ? ` (${reason})` : ""
  if (decisions.push(`${DECIDED[decision]}: ${summary}${why}`) > MAX_DECISIONS) decisions.shift()
}

const DECIDED = { commit: "agreed to", reject: "rejected", edit: "changed" }
