import type { Frame, UnknownFrame } from "../core/protocol/index.ts"

/**
 * Moves the reasoning of a whole reply before its text, as it was when it was live. A reply without text has its reasoning
 * in the message only.
 */
export function reasoningFirst(frames: readonly UnknownFrame[]): UnknownFrame[] {
  return frames.flatMap((frame, index) => {
    const thought = thoughtBefore(frame as Frame, frames[index + 1] as Frame | undefined)
    if (!thought) return [frame]
    const { text, ms = 0 } = thought
    // A message is one position after the event that its reply follows.
    const id = frame.type === "message" ? String(Number(frame.id) - 1) : frame.id
    return [{ id, type: "reasoning_delta", data: { text, offset: text.length, ms } }, frame]
  })
}

/** The reasoning that belongs before this frame. */
function thoughtBefore(frame: Frame, next: Frame | undefined) {
  const holder = frame.type === "text_delta" ? next : frame
  if (holder?.type !== "message" || (holder === frame && holder.data.message.content !== "")) return undefined
  return holder.data.message.reasoning
}
