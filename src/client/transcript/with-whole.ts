import type { Message } from "../../protocol/conversation/message.ts"
import type { Item, Transcript } from "./transcript.ts"

/** A transcript with the whole of a message of which it had only the beginning: what `readMessage` answers. */
export function withWhole(transcript: Transcript, message: Message): Transcript {
  const isIt = (item: Item) => item.type === "message" && item.key === message.id && item.message.truncated === true
  if (!transcript.items.some(isIt)) return transcript
  const items = transcript.items.map((item): Item =>
    isIt(item) ? { type: "message", key: message.id, message } : item,
  )
  return { ...transcript, items }
}
