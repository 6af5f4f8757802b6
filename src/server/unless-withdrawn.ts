import type { ConversationId, MessageId } from "../protocol/ids.ts"
import type { FrameSource } from "./event-stream.ts"
import type { ServerPorts } from "./ports.ts"
import type { RunFrames } from "./run-frames.ts"

interface Waiting {
  readonly id: ConversationId
  readonly message: MessageId
  /** Where the conversation was when the wait began. */
  readonly position: number
}

/**
 * The frames of the run that a queued message will start; where the message is taken back instead, the `done` that its
 * sender would otherwise wait for as long as the connection lasts.
 */
export function unlessWithdrawn(
  { runtime, conversations }: ServerPorts,
  frames: RunFrames,
  { id, message, position }: Waiting,
): FrameSource {
  const { bus, log } = runtime.ports
  const look = async () => {
    if (frames.begun) return leave()
    if ((await conversations.placeOf(id, message)) === undefined) frames.withdraw(position)
  }
  const orWarn = () => look().catch((error: unknown) => log.warn("look_failed", { conversation: id, error }))
  // Whoever takes a message back wakes the conversation.
  const leave = bus.onWake((woken) => void (woken === id && orWarn()))
  void orWarn() // it may have been taken back before anybody listened
  return {
    next: () => frames.next(),
    close() {
      leave()
      frames.close()
    },
  }
}
