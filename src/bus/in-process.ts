import type { Bus, Live, LiveReply, NewsKind } from "../agent/ports.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"

/** The bus of a single process: plain callbacks. All it keeps is the text of replies that are open. */
export class InProcessBus implements Bus {
  readonly #open = new Map<ConversationId, { position: number; text: string }>()
  readonly #watchers = new Map<ConversationId, Set<(live: Live) => void>>()
  readonly #userWatchers = new Map<UserId, Set<(id: ConversationId, events: readonly JournalEvent[]) => void>>()
  readonly #newsWatchers = new Map<UserId, Set<(kind: NewsKind) => void>>()
  readonly #wakers = new Set<(id: ConversationId) => void>()

  publish(id: ConversationId, live: Live): void {
    this.#remember(id, live)
    const watchers = this.#watchers.get(id)
    if (watchers) {
      // Without a closure for each: this runs once per token and watcher.
      for (const watch of watchers) {
        try {
          watch(live)
        } catch (error) {
          warn(error)
        }
      }
    }
    if (live.type === "text_delta" || live.type === "rest" || live.type === "recorded" || !live.user) return
    const events = live.type === "events" ? live.events : []
    for (const watch of this.#userWatchers.get(live.user) ?? []) {
      try {
        watch(id, events)
      } catch (error) {
        warn(error)
      }
    }
  }

  subscribe(id: ConversationId, listener: (live: Live) => void): () => void {
    return join(this.#watchers, id, listener)
  }

  subscribeUser(user: UserId, listener: (id: ConversationId, events: readonly JournalEvent[]) => void): () => void {
    return join(this.#userWatchers, user, listener)
  }

  publishNews(user: UserId, kind: NewsKind): void {
    for (const watch of this.#newsWatchers.get(user) ?? []) watch(kind)
  }

  subscribeNews(user: UserId, listener: (kind: NewsKind) => void): () => void {
    return join(this.#newsWatchers, user, listener)
  }

  watched(): { conversations: Iterable<ConversationId>; people: Iterable<UserId> } {
    return { conversations: this.#watchers.keys(), people: this.#newsWatchers.keys() }
  }

  async soFar(id: ConversationId): Promise<LiveReply | undefined> {
    return this.#open.get(id)
  }

  wake(id: ConversationId): void {
    for (const waken of this.#wakers) waken(id)
  }

  onWake(listener: (id: ConversationId) => void): () => void {
    this.#wakers.add(listener)
    return () => this.#wakers.delete(listener)
  }

  #remember(id: ConversationId, live: Live): void {
    const open = this.#open.get(id)
    if (live.type === "seen") return // a reply that is open stays open
    if (live.type === "recorded" && live.position <= (open?.position ?? 0)) return
    if (live.type !== "text_delta") {
      this.#open.delete(id)
      return
    }
    // A delta that starts at nothing is another attempt: what the last one had shown is gone with it.
    if (open?.position === live.position && live.offset > live.text.length) open.text += live.text
    else this.#open.set(id, { position: live.position, text: live.text })
  }
}

/** A watcher's defect is not the writer's. */
function warn(error: unknown): void {
  queueMicrotask(() => process.emitWarning(error as Error))
}

/** Adds to the set under a key, which goes when its last member has gone. */
function join<Key, Member>(sets: Map<Key, Set<Member>>, key: Key, member: Member): () => void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(member))
  return () => {
    set.delete(member)
    if (set.size === 0 && sets.get(key) === set) sets.delete(key)
  }
}
