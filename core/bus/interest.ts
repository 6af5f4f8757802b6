import type { Watched } from "../engine/ports.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { NodeWord } from "./wire.ts"

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

/** By then the others have heard of a new watch. What they did before they had is found in the record. */
const SETTLED_MS = 100

interface Ports {
  readonly clock: Clock
  say(word: NodeWord): void
  /** The others have heard of these. */
  settled(fresh: Watched): void
}

/** What is watched in this process, by however many, and what of it the others have been told. */
export class OwnWatches {
  readonly #ports: Ports
  readonly #conversations = new Kept<ConversationId>()
  readonly #people = new Kept<UserId>()
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

  /** All that the others have been told; what is new is told to them in the same turn. */
  get told(): { readonly conversations: ReadonlySet<ConversationId>; readonly people: ReadonlySet<UserId> } {
    return { conversations: this.#conversations.told, people: this.#people.told }
  }

  close(): void {
    clearImmediate(this.#soon)
    this.#stopSettling?.()
  }

  /** In the next turn of the event loop: many begin and end together, and some in the same moment. */
  #watch<Key>(kept: Kept<Key>, key: Key): () => void {
    kept.count(key, 1)
    this.#soon ??= setImmediate(() => this.#tell())
    let watching = true
    return () => {
      if (!watching) return
      watching = false
      kept.count(key, -1)
      this.#soon ??= setImmediate(() => this.#tell())
    }
  }

  #tell(): void {
    this.#soon = undefined
    const [conversations, people] = [this.#conversations.takeChanges(), this.#people.takeChanges()]
    for (const part of portionsOf({ conversations: conversations.left, people: people.left }))
      this.#ports.say({ type: "leave", ...part })
    if (conversations.come.length + people.come.length === 0) return
    for (const part of portionsOf({ conversations: conversations.come, people: people.come }))
      this.#ports.say({ type: "watch", ...part })
    for (const id of conversations.come) this.#fresh.conversations.add(id)
    for (const user of people.come) this.#fresh.people.add(user)
    this.#stopSettling ??= this.#ports.clock.alarm(SETTLED_MS, () => this.#settle(), "background")
  }

  #settle(): void {
    const fresh = this.#fresh
    this.#fresh = { conversations: new Set(), people: new Set() }
    this.#stopSettling = undefined
    this.#ports.settled(fresh)
  }
}

/** So many names go into one word: both kinds of them, of at most 32 characters each, are no more than `MAX_WORD`. */
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

/** Keys by how many want them, and those whose first has come or whose last has gone since the others were told. */
class Kept<Key> {
  readonly told = new Set<Key>()
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

  takeChanges(): { readonly come: Key[]; readonly left: Key[] } {
    const changed = [...this.#changed]
    this.#changed.clear()
    const come = changed.filter((key) => this.#counts.has(key) && !this.told.has(key))
    const left = changed.filter((key) => !this.#counts.has(key) && this.told.has(key))
    for (const key of come) this.told.add(key)
    for (const key of left) this.told.delete(key)
    return { come, left }
  }
}
