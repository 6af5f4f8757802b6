import type { Conversation } from "../../engine/conversation.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { bookkeepingOf } from "./bookkeeping.ts"

/** Idle conversations in memory. A paused one is not cached, because its person may take hours. */
const MAX_IDLE = 64
/** The maximum of their tokens, of about four bytes: 64 long conversations could take tens of megabytes. */
const MAX_IDLE_TOKENS = 1_000_000

interface IdleConversation {
  readonly conversation: Conversation
  /** As of when it became idle: summed incrementally, because every turn needs the sum. */
  readonly tokens: number
}

/** Conversation states in memory: those that this node writes, and the last few that it wrote. */
export class HotConversations {
  readonly #held = new Map<ConversationId, Conversation>()
  /** Least recently used first. */
  readonly #idle = new Map<ConversationId, IdleConversation>()
  #idleTokens = 0

  get held(): number {
    return this.#held.size
  }

  get(id: ConversationId): Conversation | undefined {
    return this.#held.get(id) ?? this.#idle.get(id)?.conversation
  }

  /** Files a conversation by its lease and state. */
  keep(conversation: Conversation, paused: boolean): void {
    const { id } = conversation
    const { held } = bookkeepingOf(conversation)
    if (held && this.#held.get(id) === conversation) return
    this.#held.delete(id)
    this.#removeIdle(id)
    if (held) this.#held.set(id, conversation)
    else if (!paused) this.#addIdle(conversation)
  }

  /** The state must not be written with afterwards: its lease is marked as lost. */
  drop(id: ConversationId): void {
    const conversation = this.get(id)
    if (conversation) bookkeepingOf(conversation).held = false
    this.#held.delete(id)
    this.#removeIdle(id)
  }

  /** The newest one stays, however long it is: a longer one is more expensive to read again. */
  #addIdle(conversation: Conversation): void {
    const { id, tokens } = conversation
    this.#idle.set(id, { conversation, tokens })
    this.#idleTokens += tokens
    while (this.#idle.size > 1 && (this.#idle.size > MAX_IDLE || this.#idleTokens > MAX_IDLE_TOKENS)) {
      const [oldest] = this.#idle.keys()
      if (oldest !== undefined) this.#removeIdle(oldest)
    }
  }

  #removeIdle(id: ConversationId): void {
    const idle = this.#idle.get(id)
    if (!idle) return
    this.#idle.delete(id)
    this.#idleTokens -= idle.tokens
  }
}
