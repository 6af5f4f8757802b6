import { createHash } from "node:crypto"
import { isHeld } from "../engine/inbox.ts"
import type { Live } from "../engine/ports.ts"
import type { Cursor } from "../protocol/cursor.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, MessageId, RunId, UserId } from "../protocol/ids.ts"
import type { FrameSource } from "../server/stream/frame-source.ts"
import { JournalPages } from "../server/stream/journal-runs.ts"
import type { RunFrames } from "../server/stream/send-message.ts"
import { Subscription } from "../server/stream/subscription.ts"
import { closedError, type Parts, type PersonalParts } from "./parts.ts"

/** How often to check for events that another process recorded. */
const LOOK_MS = 250

interface Followed {
  readonly id: ConversationId
  readonly user: UserId
  readonly after: Cursor
}

/** Subscribes to all events of a conversation after a position, from any process. */
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

/**
 * Polls for events of other processes, which this process's bus does not deliver. Returns a function that stops
 * polling.
 */
function lookFor({ store, ports }: Parts, { id, user, after }: Followed, tell: (live: Live) => void): () => void {
  const { journal, clock, log } = ports
  let { position } = after
  let over = false
  let cancel = clock.alarm(LOOK_MS, look)
  function look(): void {
    // The bus has already delivered events that this process wrote.
    const looked = journal.isWriterOf(id) ? Promise.resolve() : lookOnce()
    void looked
      .catch((error: unknown) => log.warn("poll_failed", { conversation: id, error }))
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

/** Events that are not recorded in the journal. */
const PASSING: readonly Live["type"][] = ["text_delta", "reasoning_delta", "tool_progress"]

/** Calls `look` until it returns a value: at once, after each event of the conversation, and at intervals. */
export async function lookUntil<Found>(
  { ports, closing }: Parts,
  id: ConversationId,
  look: () => Promise<Found | undefined>,
): Promise<Found> {
  const { bus, clock } = ports
  let happened = () => {}
  using stack = new DisposableStack()
  // Live text does not change the journal. Withdrawing a queued message wakes the conversation.
  stack.defer(bus.subscribe(id, ({ type }) => !PASSING.includes(type) && happened()))
  stack.defer(bus.onWake((woken) => woken === id && happened()))
  const stop = () => happened()
  closing.addEventListener("abort", stop)
  stack.defer(() => closing.removeEventListener("abort", stop))
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>()
    happened = resolve // before the check, so that no event is missed in between
    const found = await look().catch((error: unknown) => {
      throw closing.aborted ? closedError() : error // a closing store refuses further queries
    })
    if (found !== undefined) return found
    if (closing.aborted) throw closedError()
    const cancel = clock.alarm(LOOK_MS, resolve)
    await promise
    cancel()
  }
}

interface Waiting {
  readonly id: ConversationId
  readonly message: MessageId
  /** The journal position at which the wait started. */
  readonly position: number
}

/**
 * Returns the events of the run that a queued message starts, or ends if the message is withdrawn. Polls as well,
 * because another process can change the conversation and the queue.
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
      if (!closing.aborted) ports.log.warn("poll_failed", { conversation: id, error })
      return undefined // the store may be reachable again later
    }
    frames.withdraw(position)
    return true
  }
  lookUntil(parts, id, look).catch(() => {}) // the instance was closed; `frames` reports that
  return {
    next: () => frames.next(),
    close() {
      left = true
      frames.close()
    },
  }
}

/**
 * Returns true if a queued message will not run. Withdraws a message that is held after a cancelled or failed run:
 * otherwise it would run with the next message, long after its caller received an error.
 */
async function isTakenBack(parts: PersonalParts, { id, message }: Waiting): Promise<boolean> {
  const { store, ports } = parts
  const place = await store.conversations.placeOf(id, message)
  if (place !== "waiting") return place === undefined
  const view = await store.conversations.find(await parts.user(), id)
  if (view?.status === "running" || view?.status === "awaiting_confirmation") return false
  if (!isHeld(await ports.journal.load(id, true), message)) return false
  if (!(await store.queue.withdraw(id, message))) return false // a run has just started with it
  ports.bus.wake(id)
  return true
}

/** A run and the journal position at which it starts. */
export interface PlacedRun {
  readonly runId: RunId
  readonly position: number
}

/** Returns the run that a journal position belongs to; undefined before the first run. */
export async function runAt({ store }: Parts, id: ConversationId, position: number): Promise<PlacedRun | undefined> {
  const start = await store.conversations.runStart(id, position)
  const [row] = await store.journal.read(id, { after: start - 1, upTo: start })
  return row?.type === "run_started" && "runId" in row ? { runId: row.runId, position: start } : undefined
}

/**
 * Derives an id from text, so that the same text always gives the same id. Its timestamp is zero, because the id must
 * not depend on the time of creation.
 */
export function idFrom<Prefix extends "conv" | "msg">(
  prefix: Prefix,
  words: readonly string[],
): Prefix extends "conv" ? ConversationId : MessageId {
  const hash = createHash("sha256").update(JSON.stringify(words)).digest("base64url")
  return `${prefix}_00000000${hash}` as Prefix extends "conv" ? ConversationId : MessageId
}
