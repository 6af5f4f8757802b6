import type { MessagePage } from "../../protocol/answers.ts"
import { addMessages } from "./from-detail.ts"
import type { Item, Transcript } from "./transcript.ts"

/**
 * A transcript with a page of older messages before what it has. To be asked for with `before` set to `olderThan`: then
 * results that the list began with, and had to leave out, come with their calls.
 */
export function withOlderMessages(transcript: Transcript, page: Omit<MessagePage, "nextBefore">): Transcript {
  const known = new Set(transcript.items.map(({ key }) => key))
  const items: Item[] = []
  addMessages(items, page.items, page)
  const older = items.filter(({ key }) => !known.has(key))
  return older.length === 0 ? transcript : { ...transcript, items: [...older, ...transcript.items] }
}

/** The place before which messages are not in the transcript; null where it goes back to the first. */
export function olderThan({ items }: Transcript): number | null {
  const first = items.find((item) => item.type === "message")
  return first && first.message.seq > 1 ? first.message.seq : null
}
