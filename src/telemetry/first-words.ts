import type { Clock } from "../agent/clock.ts"
import type { Live } from "../agent/ports.ts"
import type { ConversationId } from "../protocol/ids.ts"

/** Conversations and replies of one that are remembered at most. */
const MAX_CONVERSATIONS = 5000
const MAX_REPLIES = 200

/** When replies have begun to come, which is nowhere on record: known to the process alone that has seen it. */
export class FirstWords {
  readonly #clock: Clock
  readonly #times = new Map<ConversationId, number[]>()
  /** The reply that is open in each: the position after which it comes. */
  readonly #open = new Map<ConversationId, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  hear(id: ConversationId, live: Live): void {
    if (live.type !== "text_delta" && live.type !== "reasoning_delta") return
    if (this.#open.get(id) === live.position) return
    this.#open.set(id, live.position)
    const times = this.#times.get(id) ?? []
    if (times.length === 0) this.#times.set(id, times)
    times.push(this.#clock.now())
    if (times.length > MAX_REPLIES) times.shift()
    if (this.#times.size > MAX_CONVERSATIONS) this.forget(this.#times.keys().next().value as ConversationId)
  }

  between(id: ConversationId, from: number, to: number): number | undefined {
    return this.#times.get(id)?.find((at) => at >= from && at <= to)
  }

  forget(id: ConversationId): void {
    this.#times.delete(id)
    this.#open.delete(id)
  }
}
