import type { EventOf } from "../../protocol/events.ts"
import { titleOf } from "../../protocol/conversation/title.ts"
import { addUsage } from "../add-usage.ts"
import type { Conversation } from "../conversation.ts"

/** Folds in what a conversation is called, by whom, and what asking for it has used. */
export function applyTitle(conversation: Conversation, { title, titledBy }: EventOf<"settings">): void {
  const { run } = conversation
  if (titledBy?.usage && run) run.usage = addUsage(run.usage, titledBy.usage)
  if (title === undefined) return
  conversation.title = title
  // Before anything was said it may be the words that are about to be.
  if (titledBy || conversation.seq > 0) conversation.titled = titledBy ? "model" : "person"
}

/** The first words tell whether somebody has chosen the title that stands above them. */
export function judgeTitle(conversation: Conversation, words: string): void {
  const { title } = conversation
  if (title !== null && title !== titleOf(words)) conversation.titled = "person"
}
