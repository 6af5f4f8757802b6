import type { Watched } from "../engine/ports.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { BusMessage } from "./wire.ts"

interface Peer {
  readonly conversations: Set<ConversationId>
  readonly people: Set<UserId>
  receivedAt: number
  /** The last round-trip time; undefined if it has never answered. */
  lagMs?: number
  /** When the oldest unanswered heartbeat was sent. */
  heartbeatAt?: number | undefined
}

const NO_NODES: ReadonlySet<string> = new Set()

/** Which conversations and people the clients of other nodes watch, as far as those nodes have announced it. */
export class Interest {
  readonly #peers = new Map<string, Peer>()
  readonly #conversations = new Map<ConversationId, Set<string>>()
  readonly #people = new Map<UserId, Set<string>>()

  ofConversation(id: ConversationId): ReadonlySet<string> {
    return this.#conversations.get(id) ?? NO_NODES
  }

  ofPerson(user: UserId): ReadonlySet<string> {
    return this.#people.get(user) ?? NO_NODES
  }

  knows(node: string): boolean {
    return this.#peers.has(node)
  }

  received(node: string, now: number): void {
    const peer = this.#peers.get(node)
    if (peer) peer.receivedAt = now
    else this.#peers.set(node, { conversations: new Set(), people: new Set(), receivedAt: now })
  }

  /** A heartbeat was broadcast; each node is expected to answer it. */
  heartbeatSent(now: number): void {
    for (const peer of this.#peers.values()) peer.heartbeatAt ??= now
  }

  /** The answer to the heartbeat of that time. */
  heartbeatAnswered(node: string, heartbeatAt: number, now: number): void {
    const peer = this.#peers.get(node)
    if (!peer) return
    peer.lagMs = now - heartbeatAt
    if (heartbeatAt >= (peer.heartbeatAt ?? heartbeatAt)) peer.heartbeatAt = undefined
  }

  /**
   * Round-trip times. If an answer is outstanding for longer than the last one took, its waiting time counts, because a
   * node that hangs must not look fast.
   */
  lagsMs(now: number): Map<string, number> {
    const lags = new Map<string, number>()
    for (const [node, { lagMs, heartbeatAt }] of this.#peers)
      // older versions never answer
      if (lagMs !== undefined) lags.set(node, Math.max(lagMs, heartbeatAt === undefined ? 0 : now - heartbeatAt))
    return lags
  }

  /** Returns those that are new. */
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

  /** Replaces everything that the node watches. */
  replace(node: string, watched: Watched): ConversationId[] {
    const peer = this.#peers.get(node)
    if (peer) this.remove(node, { conversations: [...peer.conversations], people: [...peer.people] })
    return this.add(node, watched)
  }

  hasCounts(node: string, { conversations, people }: { conversations: number; people: number }): boolean {
    const peer = this.#peers.get(node)
    return peer?.conversations.size === conversations && peer.people.size === people
  }

  /** Removes the nodes that have been silent since then: they are gone or unreachable, so nothing is sent to them. */
  forgetSilent(since: number): string[] {
    const silent = [...this.#peers].flatMap(([node, { receivedAt }]) => (receivedAt < since ? [node] : []))
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
  const removed = nodes.get(key)
  removed?.delete(node)
  if (removed?.size === 0) nodes.delete(key)
}

/** By then the other nodes have received a new watch. Events from before are found in the journal. */
const SETTLED_MS = 100

interface Ports {
  readonly clock: Clock
  send(word: BusMessage): void
  /** The other nodes now know these. */
  settled(fresh: Watched): void
}

/** Counts the watches of this process's clients, and remembers which ones the other nodes know. */
export class LocalWatches {
  readonly #ports: Ports
  readonly #conversations = new CountedKeys<ConversationId>()
  readonly #people = new CountedKeys<UserId>()
  #soon: NodeJS.Immediate | undefined
  #stopSettling: (() => void) | undefined
  #fresh = { conversations: new Set<ConversationId>(), people: new Set<UserId>() }

  constructor(ports: Ports) {
    this.#ports = ports
  }

  conversation(id: ConversationId): () => void {
    return this.#watch(this.#conversations, id)
  }

  person(user: UserId): () => void {
    return this.#watch(this.#people, user)
  }

  isWatched(id: ConversationId): boolean {
    return this.#conversations.has(id)
  }

  /** Everything that was announced to the other nodes. New watches are announced in the same turn of the event loop. */
  get announced(): { readonly conversations: ReadonlySet<ConversationId>; readonly people: ReadonlySet<UserId> } {
    return { conversations: this.#conversations.announced, people: this.#people.announced }
  }

  close(): void {
    clearImmediate(this.#soon)
    this.#stopSettling?.()
  }

  /** Announced in the next turn of the event loop, because many clients come and go together. */
  #watch<Key>(keys: CountedKeys<Key>, key: Key): () => void {
    keys.count(key, 1)
    this.#soon ??= setImmediate(() => this.#announce())
    let watching = true
    return () => {
      if (!watching) return
      watching = false
      keys.count(key, -1)
      this.#soon ??= setImmediate(() => this.#announce())
    }
  }

  #announce(): void {
    this.#soon = undefined
    const [conversations, people] = [this.#conversations.takeChanges(), this.#people.takeChanges()]
    for (const part of portionsOf({ conversations: conversations.removed, people: people.removed }))
      this.#ports.send({ type: "leave", ...part })
    if (conversations.added.length + people.added.length === 0) return
    for (const part of portionsOf({ conversations: conversations.added, people: people.added }))
      this.#ports.send({ type: "watch", ...part })
    for (const id of conversations.added) this.#fresh.conversations.add(id)
    for (const user of people.added) this.#fresh.people.add(user)
    this.#stopSettling ??= this.#ports.clock.alarm(SETTLED_MS, () => this.#settle(), "background")
  }

  #settle(): void {
    const fresh = this.#fresh
    this.#fresh = { conversations: new Set(), people: new Set() }
    this.#stopSettling = undefined
    this.#ports.settled(fresh)
  }
}

/** Names in one message: both kinds, of at most 32 characters each, fit into `MAX_MESSAGE`. */
const PORTION = 250

interface Names {
  readonly conversations: ConversationId[]
  readonly people: UserId[]
}

export function portionsOf({ conversations, people }: Names): Names[] {
  const count = Math.ceil(Math.max(conversations.length, people.length) / PORTION)
  return Array.from({ length: count }, (_, part) => {
    const [from, to] = [part * PORTION, (part + 1) * PORTION]
    return { conversations: conversations.slice(from, to), people: people.slice(from, to) }
  })
}

/** Keys with their number of watchers, and which of them changed since the last announcement. */
class CountedKeys<Key> {
  readonly announced = new Set<Key>()
  readonly #counts = new Map<Key, number>()
  readonly #changed = new Set<Key>()

  has(key: Key): boolean {
    return this.#counts.has(key)
  }

  count(key: Key, more: 1 | -1): void {
    const count = (this.#counts.get(key) ?? 0) + more
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
    this.#changed.add(key)
  }

  takeChanges(): { readonly added: Key[]; readonly removed: Key[] } {
    const changed = [...this.#changed]
    this.#changed.clear()
    const added = changed.filter((key) => this.#counts.has(key) && !this.announced.has(key))
    const removed = changed.filter((key) => !this.#counts.has(key) && this.announced.has(key))
    for (const key of added) this.announced.add(key)
    for (const key of removed) this.announced.delete(key)
    return { added, removed }
  }
}
