import { whenIdleAnywhere } from "../../engine/runtime/idle-anywhere.ts"
import type { Live } from "../../engine/ports.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { hasCode } from "../../protocol/errors.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { onceMore } from "../../shared/concurrency/locks.ts"
import type { ConversationPorts } from "./ports.ts"

const PAGE = { limit: 64, maxLength: 256 * 1024 }

export interface Watch extends Disposable {
  /** Resolves when it has happened, or when nothing is at work on the conversation any more. */
  over(): Promise<void>
}

/**
 * Watches a conversation until `happens` says of an event that what was waited for has happened. Begun before the act
 * whose outcome is waited for, so that nothing can happen unseen in between.
 */
export function waitForEvent(
  { runtime, bus, journal }: Pick<ConversationPorts, "runtime" | "bus" | "journal">,
  { id, position }: Pick<ConversationView, "id" | "position">,
  happens: (event: JournalEvent) => boolean,
): Watch {
  const happened = Promise.withResolvers<void>()
  let heard = position
  const hear = (events: readonly (JournalEvent | UnknownEvent)[]) => {
    for (const event of events) {
      if (event.position <= heard) continue
      heard = event.position
      if (happens(event as JournalEvent)) happened.resolve()
    }
  }
  // What another process has written is only said to be there. By pages: nobody knows how much it is.
  const readOn = onceMore(async () => {
    for (let more = true; more;) {
      const { events } = await journal.readPage(id, { after: heard, ...PAGE })
      hear(events)
      more = events.length > 0
    }
  })
  const readToEnd = () =>
    readOn().catch((error: unknown) => {
      if (!hasCode(error, "not_found")) throw error // an erased conversation has ended
    })
  let missed = false
  const listen = (live: Live) => {
    const position = live.type === "events" ? live.events[0]?.position : undefined
    // What lies between was written before its writer knew of this watch, or was lost on its way here.
    const isGap = position !== undefined && position > heard + 1
    missed ||= isGap
    if (live.type === "events" && !isGap) hear(live.events)
    else if (isGap || (live.type === "recorded" && live.position > heard)) readOn().catch(() => {}) // with the next look
  }
  const unsubscribe = bus.subscribe(id, listen)
  return {
    async over() {
      const rested = whenIdleAnywhere({ runtime, journal, bus }, id).then((where) =>
        where === "elsewhere" || missed ? readToEnd() : undefined,
      )
      await Promise.race([happened.promise, rested])
    },
    [Symbol.dispose]: unsubscribe,
  }
}
