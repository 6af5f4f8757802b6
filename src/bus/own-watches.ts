import type { Clock } from "../agent/clock.ts"
import type { NodeWord } from "./node-words.ts"
import type { Watched } from "../agent/ports.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"

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
