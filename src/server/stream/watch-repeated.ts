import type { MessageInput } from "../../agent/input.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { FrameSource } from "./event-stream.ts"
import { subscribe } from "./open-stream.ts"
import type { StreamPorts } from "./ports.ts"
import { framesOfRun } from "./say-and-watch.ts"

export interface Repeated {
  readonly id: ConversationId
  readonly message: MessageInput
  /** Where the conversation was when the request came. */
  readonly position: number
}

export interface WatchedAgain {
  readonly frames: FrameSource
  /** Others have to be answered first. */
  readonly waits: boolean
  /** Where its run begins, and where what it brought does; 0 where it has not begun. */
  readonly start: number
  readonly from: number
}

/** The frames of the run that a message has entered which was sent before, from its beginning; it is not begun again. */
export async function watchRepeated(ports: StreamPorts, { id, message, position }: Repeated): Promise<WatchedAgain> {
  let place = await ports.conversations.placeOf(id, message.id)
  if (place === undefined) {
    // It is on its way in, or its process died before it was kept. Sent now, it is taken once all the same.
    await ports.runtime.submit(id, message)
    place = (await ports.conversations.placeOf(id, message.id)) ?? "waiting"
  }
  const waits = place === "waiting"
  const start = place === "waiting" ? 0 : await ports.conversations.runStart(id, place)
  // Words stand right behind the row that starts their run; those that were let into a working one stand alone.
  const from = place === "waiting" ? position + 1 : place === start + 1 ? start : place
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  return { frames: framesOfRun(ports, source, { id, position, message: message.id, waits }), waits, start, from }
}
