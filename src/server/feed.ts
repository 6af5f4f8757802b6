import type { EventType, JournalEvent } from "../protocol/events.ts"
import type { FeedFrame } from "../protocol/frames.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { FrameSource, WaitingSource } from "./event-stream.ts"
import type { ServerPorts } from "./ports.ts"

/** Rows that change what a list of conversations or an inbox shows. */
const SHOWN: ReadonlySet<string> = new Set<EventType>([
  "conversation_started",
  "settings",
  "run_started",
  "run_ended",
  "awaiting_confirmation",
  "proposal",
  "decision",
  "in_doubt",
  "resolution",
  "late_result",
  "tool_end",
])
const NEWEST = { limit: 50 }
const WAITING = { status: "pending", limit: 200 } as const
/** More than this at once is told as a whole again. */
const MAX_CHANGED = 200

/**
 * All conversations of a person at a glance. It tells how things stand, never what happened, so that whoever was away
 * has missed nothing, and a slow watcher only costs the names of what has changed.
 */
export class Feed implements FrameSource<FeedFrame>, WaitingSource<FeedFrame> {
  readonly #ports: ServerPorts
  readonly #user: UserId
  readonly #unsubscribe: () => void
  readonly #changed = new Set<ConversationId>()
  #everything = true
  #closed = false
  #wake: (() => void) | undefined

  constructor(ports: ServerPorts, user: UserId) {
    this.#ports = ports
    this.#user = user
    this.#unsubscribe = ports.runtime.ports.bus.subscribeUser(user, (id, events) => this.#hear(id, events))
  }

  async next(): Promise<FeedFrame[] | undefined> {
    return (await this.wait()) ? this.take() : undefined
  }

  async wait(): Promise<boolean> {
    while (!this.#closed && !this.#everything && this.#changed.size === 0)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    return !this.#closed
  }

  async take(): Promise<FeedFrame[]> {
    if (this.#everything) return [await this.#snapshot()]
    const ids = [...this.#changed]
    this.#changed.clear()
    return Promise.all(ids.map((id) => this.#conversation(id)))
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#wake?.()
  }

  #hear(id: ConversationId, events: readonly JournalEvent[]): void {
    if (events.length > 0 && !events.some(({ type }) => SHOWN.has(type))) return
    this.#changed.add(id)
    this.#everything ||= this.#changed.size > MAX_CHANGED
    if (this.#wake) setImmediate(this.#wake)
    this.#wake = undefined
  }

  async #snapshot(): Promise<FeedFrame> {
    this.#everything = false // what changes while we read is told again after it
    this.#changed.clear()
    const { conversations, proposals } = this.#ports
    const [listed, waiting] = await Promise.all([
      conversations.list(this.#user, NEWEST),
      proposals.list(this.#user, WAITING),
    ])
    return { ...this.#id(), type: "snapshot", data: { conversations: listed.items, proposals: waiting.items } }
  }

  async #conversation(id: ConversationId): Promise<FeedFrame> {
    const { conversations, proposals } = this.#ports
    const conversation = await conversations.find(this.#user, id)
    if (!conversation) return { ...this.#id(), type: "conversation_deleted", data: { conversationId: id } }
    return { ...this.#id(), type: "conversation", data: { conversation, proposals: await proposals.open(id) } }
  }

  /** A feed needs no place to go on from: only when it was told. */
  #id(): { id: string } {
    return { id: String(this.#ports.runtime.ports.clock.now()) }
  }
}
