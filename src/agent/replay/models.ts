import type { EventOf } from "../../protocol/events.ts"
import type { Conversation } from "../conversation.ts"

/** Folds a choice of a person in: from here on that model is asked, also one that failed before. */
export function applyChosenModel(conversation: Conversation, model: string): void {
  conversation.model = model
  conversation.spared = new Map()
  if (conversation.run) conversation.run.fallback = undefined
}

/** Folds in that another model is asked. One that was only spared has not failed in this run, and is the last resort. */
export function applyFallback(conversation: Conversation, event: EventOf<"fallback">): void {
  const { from, to, because, message, earlier, until } = event
  conversation.spared = new Map(conversation.spared).set(from, { because, message, until })
  const { run, compaction } = conversation
  // Whether there is room is another question for another model: it may read more.
  if (compaction.due === "full") compaction.due = undefined
  if (!run) return
  const failed = run.fallback?.failed ?? []
  run.fallback = { model: to, failed: earlier ? failed : [...failed, { model: from, because, message }] }
}
