import type { Frame, UnknownFrame } from "../core/protocol/frames.ts"

/**
 * The frames of a reply that is told whole have its words before the message that holds its thinking: told as if it had been
 * thought first, it stands where it stood while it came. A reply without text has its thinking in the message alone.
 */
export function thoughtsFirst(frames: readonly UnknownFrame[]): UnknownFrame[] {
  return frames.flatMap((frame, index) => {
    const thought = thoughtBefore(frame as Frame, frames[index + 1] as Frame | undefined)
    if (!thought) return [frame]
    const { text, ms = 0 } = thought
    // A message stands one row after the row that its reply follows.
    const id = frame.type === "message" ? String(Number(frame.id) - 1) : frame.id
    return [{ id, type: "reasoning_delta", data: { text, offset: text.length, ms } }, frame]
  })
}

/** The thinking that belongs before this frame. */
function thoughtBefore(frame: Frame, next: Frame | undefined) {
  const holder = frame.type === "text_delta" ? next : frame
  if (holder?.type !== "message" || (holder === frame && holder.data.message.content !== "")) return undefined
  return holder.data.message.reasoning
}
