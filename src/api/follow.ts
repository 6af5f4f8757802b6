import type { Live } from "../agent/ports.ts"
import { failure } from "../protocol/errors.ts"
import type { Cursor } from "../protocol/cursor.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import { JournalPages } from "../server/stream/journal-pages.ts"
import { Subscription } from "../server/stream/subscription.ts"
import type { Parts } from "./parts.ts"

/** How often it is looked whether another process has recorded something, while somebody here waits for it. */
const LOOK_MS = 250

interface Followed {
  readonly id: ConversationId
  readonly user: UserId
  readonly after: Cursor
}

/** Everything of a conversation from a place on, whichever process records it. */
export async function followConversation(parts: Parts, { id, user, after }: Followed): Promise<Subscription> {
  const { store } = parts
  const { journal, bus, clock } = parts.ports
  const runStart = await store.conversations.runStart(id, after.position)
  const source = {
    journal,
    clock,
    bus: {
      soFar: (which: ConversationId) => bus.soFar(which),
      subscribe(which: ConversationId, listener: (live: Live) => void) {
        const leave = bus.subscribe(which, listener)
        const stop = lookFor(parts, { id, user, after }, listener)
        return () => {
          stop()
          leave()
        }
      },
    },
  }
  return new Subscription(source, { id, after, runStart })
}

/** Tells what other processes have recorded: the bus of this one does not hear of it. Returns what ends the looking. */
function lookFor({ store, ports }: Parts, { id, user, after }: Followed, tell: (live: Live) => void): () => void {
  const { journal, clock, log } = ports
  let { position } = after
  let over = false
  let cancel = clock.alarm(LOOK_MS, look)
  function look(): void {
    // What this process writes it has told already.
    const looked = journal.isWriterOf(id) ? Promise.resolve() : lookOnce()
    void looked
      .catch((error: unknown) => log.warn("look_failed", { conversation: id, error }))
      .then(() => {
        if (!over) cancel = clock.alarm(LOOK_MS, look)
      })
  }
  async function lookOnce(): Promise<void> {
    const view = await store.conversations.find(user, id)
    if (over) return
    if (!view) return tell({ type: "gone", user })
    if (view.position <= position) return
    const pages = new JournalPages(journal, id)
    for (let more = true; more && !over;) {
      const page = await pages.read({ after: position })
      const events = page.events as readonly JournalEvent[]
      position = events.at(-1)?.position ?? position
      if (!over && events.length > 0) tell({ type: "events", user, events })
      more = page.more
    }
  }
  return () => {
    over = true
    cancel()
  }
}

/** What changes nothing on record. */
const PASSING: readonly Live["type"][] = ["text_delta", "reasoning_delta", "tool_progress"]

/** Looks until there is an answer: at once, whenever something happens in the conversation, and now and then. */
export async function lookUntil<Found>(
  { ports, closing }: Parts,
  id: ConversationId,
  look: () => Promise<Found | undefined>,
): Promise<Found> {
  const { bus, clock } = ports
  let happened = () => {}
  using stack = new DisposableStack()
  // More of a reply changes nothing on record; whoever takes a waiting message back wakes the conversation.
  stack.defer(bus.subscribe(id, ({ type }) => !PASSING.includes(type) && happened()))
  stack.defer(bus.onWake((woken) => woken === id && happened()))
  const stop = () => happened()
  closing.addEventListener("abort", stop)
  stack.defer(() => closing.removeEventListener("abort", stop))
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>()
    happened = resolve // before looking, so that nothing happens unseen in between
    const found = await look().catch((error: unknown) => {
      throw closing.aborted ? failure("draining") : error // a store that is being closed refuses what comes late
    })
    if (found !== undefined) return found
    if (closing.aborted) throw failure("draining")
    const cancel = clock.alarm(LOOK_MS, resolve)
    await promise
    cancel()
  }
}
