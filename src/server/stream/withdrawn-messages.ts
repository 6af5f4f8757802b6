import type { ConversationId, MessageId } from "../../protocol/ids.ts"
import { onceMore } from "../../protocol/once-more.ts"
import type { FrameSource } from "./event-stream.ts"
import type { StreamPorts } from "./ports.ts"
import type { RunFrames } from "./run-frames.ts"

type WithdrawalPorts = Pick<StreamPorts, "bus" | "log" | "conversations">

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
export function unlessWithdrawn(ports: WithdrawalPorts, frames: RunFrames, waiting: Waiting): FrameSource {
  const leave = whenWithdrawn(ports, waiting, {
    begun: () => frames.begun,
    withdraw: () => frames.withdraw(waiting.position),
  })
  return {
    next: () => frames.next(),
    close() {
      leave()
      frames.close()
    },
  }
}

interface Waits {
  /** The run has begun: there is nothing to take back any more. */
  begun(): boolean
  withdraw(): void
}

/** Tells who waits for the run of a queued message that it was taken back; what is returned ends the listening. */
export function whenWithdrawn(
  { bus, log, conversations }: WithdrawalPorts,
  { id, message }: Pick<Waiting, "id" | "message">,
  waits: Waits,
): () => void {
  const look = onceMore(async () => {
    if (waits.begun()) return leave()
    if ((await conversations.placeOf(id, message)) === undefined && !waits.begun()) waits.withdraw()
  })
  const orWarn = () => void look().catch((error: unknown) => log.warn("look_failed", { conversation: id, error }))
  const stops = [
    // Whoever takes a message back wakes the conversation; of another node, that may not be heard, and then the record is looked at.
    bus.onWake((woken) => woken === id && orWarn()),
    bus.subscribe(id, ({ type }) => type === "recorded" && orWarn()),
  ]
  const leave = () => stops.forEach((stop) => stop())
  orWarn() // it may have been taken back before anybody listened
  return leave
}
