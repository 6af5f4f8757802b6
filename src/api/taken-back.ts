import { isHeld } from "../agent/inbox.ts"
import type { ConversationId, MessageId } from "../protocol/ids.ts"
import type { FrameSource } from "../server/stream/event-stream.ts"
import type { RunFrames } from "../server/stream/run-frames.ts"
import { lookUntil } from "./follow.ts"
import type { PersonalParts } from "./parts.ts"

interface Waiting {
  readonly id: ConversationId
  readonly message: MessageId
  /** Where the conversation was when the wait began. */
  readonly position: number
}

/**
 * The frames of the run that a queued question will start, or their end where it will start none. The bus tells of this
 * process alone, so it is also looked now and then: the conversation, and the queue, may be another's to change.
 */
export function unlessTakenBack(parts: PersonalParts, frames: RunFrames, waiting: Waiting): FrameSource {
  const { closing, ports } = parts
  const { id, position } = waiting
  let left = false
  const look = async () => {
    if (left || closing.aborted || frames.begun) return true
    try {
      if (!(await isTakenBack(parts, waiting))) return undefined
    } catch (error) {
      if (!closing.aborted) ports.log.warn("look_failed", { conversation: id, error })
      return undefined // a store that is away comes back
    }
    frames.withdraw(position)
    return true
  }
  lookUntil(parts, id, look).catch(() => {}) // it was closed, which whoever waits is told
  return {
    next: () => frames.next(),
    close() {
      left = true
      frames.close()
    },
  }
}

/**
 * Whether a queued question will have no run. One that is held after a run that was stopped or has failed is taken back
 * here: it would begin when somebody speaks next, long after whoever asked was told that it came to nothing.
 */
async function isTakenBack(parts: PersonalParts, { id, message }: Waiting): Promise<boolean> {
  const { store, ports } = parts
  const place = await store.conversations.placeOf(id, message)
  if (place !== "waiting") return place === undefined
  const view = await store.conversations.find(await parts.user(), id)
  if (view?.status === "running" || view?.status === "awaiting_confirmation") return false
  if (!isHeld(await ports.journal.load(id, true), message)) return false
  if (!(await store.queue.withdraw(id, message))) return false // it was taken up in this moment
  ports.bus.wake(id)
  return true
}
