import type { Conversation } from "../../engine/conversation.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { bookkeepingOf } from "./bookkeeping.ts"

/** Resting conversations kept in memory. A paused one is not kept: its person may take hours. */
const RESTING = 64
/** And so many tokens of theirs, of about four bytes: 64 long ones would be tens of megabytes that nobody may ask for. */
const RESTING_TOKENS = 1_000_000

interface Resting {
  readonly conversation: Conversation
  /** When it came to rest: added up as they come and go, since every turn asks. */
  readonly tokens: number
}

/** The folds in memory: those this node is the writer of, and the last few it was the writer of. */
export class HotConversations {
  readonly #held = new Map<ConversationId, Conversation>()
  /** The one that came last stands last. */
  readonly #resting = new Map<ConversationId, Resting>()
  #restingTokens = 0

  get held(): number {
    return this.#held.size
  }

  get(id: ConversationId): Conversation | undefined {
    return this.#held.get(id) ?? this.#resting.get(id)?.conversation
  }

  /** Files a conversation where its lease and state put it. */
  keep(conversation: Conversation, paused: boolean): void {
    const { id } = conversation
    const { held } = bookkeepingOf(conversation)
    if (held && this.#held.get(id) === conversation) return
    this.#held.delete(id)
    this.#wake(id)
    if (held) this.#held.set(id, conversation)
    else if (!paused) this.#rest(conversation)
  }

  /** After this the fold may not be written with: whoever still has it finds its lease gone. */
  drop(id: ConversationId): void {
    const conversation = this.get(id)
    if (conversation) bookkeepingOf(conversation).held = false
    this.#held.delete(id)
    this.#wake(id)
  }

  /** Whoever came last stays, however long it is: the longer, the more it would cost to read it again. */
  #rest(conversation: Conversation): void {
    const { id, tokens } = conversation
    this.#resting.set(id, { conversation, tokens })
    this.#restingTokens += tokens
    while (this.#resting.size > 1 && (this.#resting.size > RESTING || this.#restingTokens > RESTING_TOKENS)) {
      const [oldest] = this.#resting.keys()
      if (oldest !== undefined) this.#wake(oldest)
    }
  }

  #wake(id: ConversationId): void {
    const resting = this.#resting.get(id)
    if (!resting) return
    this.#resting.delete(id)
    this.#restingTokens -= resting.tokens
  }
}
