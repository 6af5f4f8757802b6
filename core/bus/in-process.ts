import type { Bus, Happened, Live, LiveReply, LiveThought, NewsKind, Watched } from "../engine/ports.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import { GrowingText } from "../shared/text/growing-text.ts"

type WakeListener = (id: ConversationId, from: "here" | "elsewhere") => void

/** The bus of a single process, with plain callbacks. It stores only the text of open replies. */
export class InProcessBus implements Bus {
  readonly #open = new Map<ConversationId, OpenText>()
  readonly #watchers = new Map<ConversationId, Set<(live: Live) => void>>()
  readonly #userWatchers = new Map<UserId, Set<(id: ConversationId, happened: readonly Happened[]) => void>>()
  readonly #newsWatchers = new Map<UserId, Set<(kind: NewsKind) => void>>()
  readonly #wakers = new Set<WakeListener>()

  publish(id: ConversationId, live: Live): void {
    this.#remember(id, live)
    const watchers = this.#watchers.get(id)
    if (watchers) {
      // No closure per watcher: this runs once per token and watcher.
      for (const watch of watchers) {
        try {
          watch(live)
        } catch (error) {
          warn(error)
        }
      }
    }
    if (live.type === "text_delta" || live.type === "rest" || live.type === "recorded") return
    if (live.type === "reasoning_delta" || live.type === "tool_progress" || !live.user) return
    this.publishToUser(live.user, id, live.type === "events" ? live.events : [])
  }

  /** Notifies the subscribers of this person about events in one conversation. */
  publishToUser(user: UserId, id: ConversationId, happened: readonly Happened[]): void {
    for (const watch of this.#userWatchers.get(user) ?? []) {
      try {
        watch(id, happened)
      } catch (error) {
        warn(error)
      }
    }
  }

  subscribe(id: ConversationId, listener: (live: Live) => void): () => void {
    return addListener(this.#watchers, id, listener)
  }

  subscribeUser(user: UserId, listener: (id: ConversationId, happened: readonly Happened[]) => void): () => void {
    return addListener(this.#userWatchers, user, listener)
  }

  publishNews(user: UserId, kind: NewsKind): void {
    for (const watch of this.#newsWatchers.get(user) ?? []) watch(kind)
  }

  subscribeNews(user: UserId, listener: (kind: NewsKind) => void): () => void {
    return addListener(this.#newsWatchers, user, listener)
  }

  watched(): Watched {
    return { conversations: this.#watchers.keys(), people: this.#newsWatchers.keys() }
  }

  async soFar(id: ConversationId): Promise<LiveReply | undefined> {
    return this.openReply(id)?.soFar()
  }

  openReply(id: ConversationId): OpenText | undefined {
    return this.#open.get(id)
  }

  /** Drops the text of a reply that another node writes and that no client of this node watches any more. */
  forgetReply(id: ConversationId): void {
    this.#open.delete(id)
  }

  wake(id: ConversationId, from: "here" | "elsewhere" = "here"): void {
    for (const listener of this.#wakers) listener(id, from)
  }

  onWake(listener: WakeListener): () => void {
    this.#wakers.add(listener)
    return () => this.#wakers.delete(listener)
  }

  // A single process has no other nodes.
  spreadNews(): void {}
  spreadRevoked(): void {}
  onRevoked(): () => void {
    return () => {}
  }
  hearsOthers(): boolean {
    return false
  }
  onDoubt(): () => void {
    return () => {}
  }

  #remember(id: ConversationId, live: Live): void {
    const open = this.#open.get(id)
    if (live.type === "seen" || live.type === "tool_progress") return // a reply that is open stays open
    if (live.type === "recorded" && live.position <= (open?.position ?? 0)) return
    if (live.type === "reasoning_delta") return this.#rememberThought(id, live)
    if (live.type !== "text_delta") {
      this.#open.delete(id)
      return
    }
    if (open?.position === live.position) open.add(live)
    else this.#open.set(id, new OpenText(live.position).add(live))
  }

  #rememberThought(
    id: ConversationId,
    { position, offset, text, ms }: Extract<Live, { type: "reasoning_delta" }>,
  ): void {
    const open = this.#open.get(id)
    const isFirst = offset === text.length
    if (open?.position !== position || (isFirst && open.thought))
      this.#open.set(id, new OpenText(position, { text, ms }))
    else open.thought = { text: (open.thought?.text ?? "") + text, ms }
  }
}

/** An error in a subscriber must not reach the publisher. */
function warn(error: unknown): void {
  queueMicrotask(() => process.emitWarning(error as Error))
}

/** Adds to the set under a key. The set is removed with its last member. */
function addListener<Key, Member>(sets: Map<Key, Set<Member>>, key: Key, member: Member): () => void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(member))
  return () => {
    set.delete(member)
    if (set.size === 0 && sets.get(key) === set) sets.delete(key)
  }
}

/** Wraps a bus so that a listener gets everything that is published. */
export function observed(bus: Bus, add: (id: ConversationId, live: Live) => void): Bus {
  return {
    publish(id, live) {
      bus.publish(id, live)
      try {
        add(id, live)
      } catch (error) {
        // an error in the listener must not reach the publisher
        queueMicrotask(() => process.emitWarning(error as Error))
      }
    },
    subscribe: (id, listener) => bus.subscribe(id, listener),
    subscribeUser: (user, listener) => bus.subscribeUser(user, listener),
    publishNews: (user, kind) => bus.publishNews(user, kind),
    spreadNews: (user, kind) => bus.spreadNews(user, kind),
    subscribeNews: (user, listener) => bus.subscribeNews(user, listener),
    watched: () => bus.watched(),
    soFar: (id) => bus.soFar(id),
    wake: (id) => bus.wake(id),
    onWake: (listener) => bus.onWake(listener),
    spreadRevoked: () => bus.spreadRevoked(),
    onRevoked: (listener) => bus.onRevoked(listener),
    hearsOthers: () => bus.hearsOthers(),
    onDoubt: (listener) => bus.onDoubt(listener),
  }
}

/** An open reply, as far as it was received. If its writer is in this process, the text stays with the writer. */
class OpenText implements LiveReply {
  readonly position: number
  thought?: LiveThought
  #reply: { readonly shown: string } | undefined
  #received: GrowingText | undefined
  #length = 0

  constructor(position: number, thought?: LiveThought) {
    this.position = position
    if (thought) this.thought = thought
  }

  get text(): string {
    return this.#reply?.shown ?? String(this.#received ?? "")
  }

  get length(): number {
    return this.#length
  }

  /** A snapshot, for a later reader. */
  soFar(): LiveReply {
    const { position, text, thought } = this
    return thought ? { position, text, thought } : { position, text }
  }

  add({ offset, text, reply }: Extract<Live, { type: "text_delta" }>): this {
    this.#reply = reply
    this.#length = offset
    if (reply) return this
    // Text from offset 0 is another attempt or a resent reply. Its reasoning came before, and stays.
    if (offset === text.length) this.#received = undefined
    ;(this.#received ??= new GrowingText()).add(text)
    return this
  }
}
