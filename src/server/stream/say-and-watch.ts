import type { MessageInput } from "../../agent/input.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import type { MessageId } from "../../protocol/ids.ts"
import type { FrameSource } from "./event-stream.ts"
import { subscribe } from "./open-stream.ts"
import type { StreamPorts } from "./ports.ts"
import { RunFrames } from "./run-frames.ts"
import type { Subscription } from "./subscription.ts"
import { unlessWithdrawn } from "./withdrawn-messages.ts"

/** Where to look from: the conversation as it was found. */
type Place = Pick<ConversationView, "id" | "position">

/** Says something, and gives the frames of the run that it enters, to its end, also where it has to wait for its turn. */
export async function sayAndWatch(ports: StreamPorts, place: Place, message: MessageInput): Promise<FrameSource> {
  const { source, done } = await watchWhile(ports, place, () => ports.runtime.submit(place.id, message))
  return framesOfRun(ports, source, { ...place, message: message.id, waits: done === "kept" })
}

interface Said extends Place {
  readonly message: MessageId
  /** Others have to be answered first, and meanwhile it can be taken back. */
  readonly waits: boolean
  /** Its run has gone on from the pauses up to here. */
  readonly pausesUpTo?: number
}

/** The frames of the run that a message enters, out of those of its conversation. */
export function framesOfRun(ports: StreamPorts, source: Subscription, { waits, ...said }: Said): FrameSource {
  const { message, pausesUpTo } = said
  const frames = new RunFrames(source, { message, ...(pausesUpTo === undefined ? {} : { pausesUpTo }) })
  return waits ? unlessWithdrawn(ports, frames, said) : frames
}

/**
 * Everything of a conversation from before something is done in it. The watch begins first, so that nothing that follows
 * from it is missed; where it is refused nobody is left watching.
 */
export async function watchWhile<Done>(
  ports: StreamPorts,
  { id, position }: Place,
  act: () => Promise<Done>,
): Promise<{ readonly source: Subscription; readonly done: Done }> {
  const source = await subscribe(ports, { id, after: { position, offset: 0 } })
  try {
    return { source, done: await act() }
  } catch (error) {
    source.close()
    throw error
  }
}
