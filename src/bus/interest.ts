import type { Watched } from "../agent/ports.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"

interface Peer {
  readonly conversations: Set<ConversationId>
  readonly people: Set<UserId>
  heardAt: number
  /** How long a word to it and its answer took the last time; undefined where it has never answered. */
  lagMs?: number
  /** When the word was said that it has not answered yet. */
  askedAt?: number | undefined
}

const NOBODY: ReadonlySet<string> = new Set()

/** Who watches what in other processes, as far as they have said. */
export class Interest {
  readonly #peers = new Map<string, Peer>()
  readonly #conversations = new Map<ConversationId, Set<string>>()
  readonly #people = new Map<UserId, Set<string>>()

  ofConversation(id: ConversationId): ReadonlySet<string> {
    return this.#conversations.get(id) ?? NOBODY
  }

  ofPerson(user: UserId): ReadonlySet<string> {
    return this.#people.get(user) ?? NOBODY
  }

  knows(node: string): boolean {
    return this.#peers.has(node)
  }

  heard(node: string, now: number): void {
    const peer = this.#peers.get(node)
    if (peer) peer.heardAt = now
    else this.#peers.set(node, { conversations: new Set(), people: new Set(), heardAt: now })
  }

  /** A word was said to everybody that each is to answer. */
  asked(now: number): void {
    for (const peer of this.#peers.values()) peer.askedAt ??= now
  }

  /** The answer to what was said then. */
  answered(node: string, askedAt: number, now: number): void {
    const peer = this.#peers.get(node)
    if (!peer) return
    peer.lagMs = now - askedAt
    if (askedAt >= (peer.askedAt ?? askedAt)) peer.askedAt = undefined
  }

  /** How long a word and its answer take. One that waits for longer than the last took counts, or a node that hangs would look quick. */
  lagsMs(now: number): Map<string, number> {
    const lags = new Map<string, number>()
    for (const [node, { lagMs, askedAt }] of this.#peers)
      if (lagMs !== undefined) lags.set(node, Math.max(lagMs, askedAt === undefined ? 0 : now - askedAt)) // older versions never answer
    return lags
  }

  /** Which of them are new. */
  add(node: string, { conversations, people }: Watched): ConversationId[] {
    const peer = this.#peers.get(node)
    if (!peer) return []
    const fresh = [...conversations].filter((id) => !peer.conversations.has(id))
    for (const id of conversations) join(this.#conversations, peer.conversations, id, node)
    for (const user of people) join(this.#people, peer.people, user, node)
    return fresh
  }

  remove(node: string, { conversations, people }: Watched): void {
    const peer = this.#peers.get(node)
    if (!peer) return
    for (const id of conversations) leave(this.#conversations, peer.conversations, id, node)
    for (const user of people) leave(this.#people, peer.people, user, node)
  }

  /** These and no others. */
  replace(node: string, watched: Watched): ConversationId[] {
    const peer = this.#peers.get(node)
    if (peer) this.remove(node, { conversations: [...peer.conversations], people: [...peer.people] })
    return this.add(node, watched)
  }

  counts(node: string, { conversations, people }: { conversations: number; people: number }): boolean {
    const peer = this.#peers.get(node)
    return peer?.conversations.size === conversations && peer.people.size === people
  }

  /** Those who were not heard since then are gone, or cannot be reached: nothing is sent to them. */
  forgetSilent(since: number): string[] {
    const silent = [...this.#peers].flatMap(([node, { heardAt }]) => (heardAt < since ? [node] : []))
    for (const node of silent) this.#forget(node)
    return silent
  }

  forgetAll(): void {
    this.#peers.clear()
    this.#conversations.clear()
    this.#people.clear()
  }

  #forget(node: string): void {
    this.replace(node, { conversations: [], people: [] })
    this.#peers.delete(node)
  }
}

function join<Key>(nodes: Map<Key, Set<string>>, own: Set<Key>, key: Key, node: string): void {
  own.add(key)
  nodes.set(key, (nodes.get(key) ?? new Set()).add(node))
}

function leave<Key>(nodes: Map<Key, Set<string>>, own: Set<Key>, key: Key, node: string): void {
  own.delete(key)
  const left = nodes.get(key)
  left?.delete(node)
  if (left?.size === 0) nodes.delete(key)
}
