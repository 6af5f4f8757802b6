import type { Conversation } from "../../agent/conversation.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { bookkeepingOf } from "./bookkeeping.ts"

/** Resting conversations kept in memory. A paused one is not kept: its person may take hours. */
const RESTING = 64
/** And so many tokens of theirs, of about four bytes: 64 long ones would be tens of megabytes that nobody may ask for. */
const RESTING_TOKENS = 1_000_000

/** The folds in memory: those this node is the writer of, and the last few it was the writer of. */
export class HotConversations {
  readonly #held = new Map<ConversationId, Conversation>()
  readonly #resting = new Map<ConversationId, Conversation>()

  get held(): number {
    return this.#held.size
  }

  get(id: ConversationId): Conversation | undefined {
    return this.#held.get(id) ?? this.#resting.get(id)
  }

  /** Files a conversation where its lease and state put it. */
  keep(conversation: Conversation, paused: boolean): void {
    const { id } = conversation
    const { held } = bookkeepingOf(conversation)
    if (held && this.#held.get(id) === conversation) return
    this.#held.delete(id)
    this.#resting.delete(id)
    if (held) this.#held.set(id, conversation)
    else if (!paused) this.#resting.set(id, conversation)
    this.#dropOldest()
  }

  /** After this the fold may not be written with: whoever still has it finds its lease gone. */
  drop(id: ConversationId): void {
    const conversation = this.get(id)
    if (conversation) bookkeepingOf(conversation).held = false
    this.#held.delete(id)
    this.#resting.delete(id)
  }

  /** The one that came last stays, however long it is: the longer, the more it would cost to read it again. */
  #dropOldest(): void {
    let tokens = 0
    for (const resting of this.#resting.values()) tokens += resting.tokens
    for (const [id, oldest] of this.#resting) {
      const { size } = this.#resting
      if (size === 1 || (size <= RESTING && tokens <= RESTING_TOKENS)) return
      this.#resting.delete(id)
      tokens -= oldest.tokens
    }
  }
}
