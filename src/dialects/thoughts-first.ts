import type { Frame, UnknownFrame } from "../protocol/frames.ts"

/**
 * The frames of a reply that is told whole have its words before the message that holds its thinking: told as if it had been
 * thought first, it stands where it stood while it came.
 */
export function thoughtsFirst(frames: readonly UnknownFrame[]): UnknownFrame[] {
  return frames.flatMap((frame, index) => {
    const next = frames[index + 1] as Frame | undefined
    const thought = frame.type === "text_delta" && next?.type === "message" && next.data.message.reasoning
    if (!thought) return [frame]
    const { text, ms = 0 } = thought
    return [{ id: frame.id, type: "reasoning_delta", data: { text, offset: text.length, ms } }, frame]
  })
}
