import type { Live } from "../../agent/ports.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"
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
  { runtime, bus }: Pick<ConversationPorts, "runtime" | "bus">,
  id: ConversationId,
  happens: (event: JournalEvent) => boolean,
): Watch {
  const happened = Promise.withResolvers<void>()
  const listen = (live: Live) => {
    if (live.type !== "events") return
    for (const event of live.events) if (happens(event)) happened.resolve()
  }
  const unsubscribe = bus.subscribe(id, listen)
  return {
    over: () => Promise.race([happened.promise, runtime.rest(id)]),
    [Symbol.dispose]: unsubscribe,
  }
}
