import { restAnywhere } from "../../agent/runtime/rest-anywhere.ts"
import type { Live } from "../../agent/ports.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationPorts } from "./ports.ts"

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
  let reading: Promise<void> | undefined
  const hear = (events: readonly (JournalEvent | UnknownEvent)[]) => {
    for (const event of events) {
      if (event.position <= heard) continue
      heard = event.position
      if (happens(event as JournalEvent)) happened.resolve()
    }
  }
  // What another process has written is only said to be there.
  const readOn = () =>
    (reading ??= journal
      .read(id, { after: heard })
      .then(hear)
      .catch(() => {}) // an erased conversation rests, and a store that is away says so to whoever asks next
      .finally(() => (reading = undefined)))
  const listen = (live: Live) => {
    if (live.type === "events") hear(live.events)
    else if (live.type === "recorded" && live.position > heard) void readOn()
  }
  const unsubscribe = bus.subscribe(id, listen)
  return {
    async over() {
      const rested = restAnywhere({ runtime, journal, bus }, id).then((where) =>
        where === "elsewhere" ? readOn() : undefined,
      )
      await Promise.race([happened.promise, rested])
    },
    [Symbol.dispose]: unsubscribe,
  }
}
