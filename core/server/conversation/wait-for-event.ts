import { whenIdleAnywhere } from "../../engine/runtime/idle-anywhere.ts"
import type { Live } from "../../engine/ports.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { hasCode } from "../../protocol/errors.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { onceMore } from "../../shared/concurrency/locks.ts"
import type { ConversationPorts } from "./ports.ts"

const PAGE = { limit: 64, maxLength: 256 * 1024 }

export interface Watch extends Disposable {
  /** Resolves when the event has happened, or when the conversation is idle. */
  over(): Promise<void>
}

/**
 * Watches a conversation until `happens` returns true for an event. Start it before the action whose outcome is awaited,
 * so that no event is missed.
 */
export function waitForEvent(
  { runtime, bus, journal }: Pick<ConversationPorts, "runtime" | "bus" | "journal">,
  { id, position }: Pick<ConversationView, "id" | "position">,
  happens: (event: JournalEvent) => boolean,
): Watch {
  const happened = Promise.withResolvers<void>()
  let seen = position
  const check = (events: readonly (JournalEvent | UnknownEvent)[]) => {
    for (const event of events) {
      if (event.position <= seen) continue
      seen = event.position
      if (happens(event as JournalEvent)) happened.resolve()
    }
  }
  // Another process only reports that it wrote events. Read in pages: the amount is unknown.
  const readOn = onceMore(async () => {
    for (let more = true; more;) {
      const { events } = await journal.readPage(id, { after: seen, ...PAGE })
      check(events)
      more = events.length > 0
    }
  })
  const readToEnd = () =>
    readOn().catch((error: unknown) => {
      if (!hasCode(error, "not_found")) throw error // an erased conversation has ended
    })
  let missed = false
  const onLive = (live: Live) => {
    const position = live.type === "events" ? live.events[0]?.position : undefined
    // The events in between were written before their writer knew of this watch, or their message was lost.
    const isGap = position !== undefined && position > seen + 1
    missed ||= isGap
    if (live.type === "events" && !isGap) check(live.events)
    else if (isGap || (live.type === "recorded" && live.position > seen)) readOn().catch(() => {}) // retried at the next report
  }
  const unsubscribe = bus.subscribe(id, onLive)
  return {
    async over() {
      const idle = whenIdleAnywhere({ runtime, journal, bus }, id).then((where) =>
        where === "elsewhere" || missed ? readToEnd() : undefined,
      )
      await Promise.race([happened.promise, idle])
    },
    [Symbol.dispose]: unsubscribe,
  }
}
