import type { ConversationId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { type Clock, monotonicOf } from "../shared/time/clock.ts"
import type { RefusalReason } from "./message-cipher.ts"
import { type Addressee, MAX_WORD, type Wire, type WordOf, writeLetter } from "./wire.ts"

/** Text waits for the next picture on a screen, as it does at a watcher: a model may be faster than anyone can see. */
const PACE_MS = 16
/** A letter is full with this, also where the wire has more room: whoever reads it does nothing else meanwhile. */
const FULL = 256 * 1024
/** A character of a text may be six of JSON's. */
const PART = MAX_WORD / 8

/** What is to be said to one process, or to all: gathered for a moment, and sent together. */
export class Outbox {
  readonly #wire: Wire
  readonly #to: Addressee
  readonly #clock: Clock
  #words: string[] = []
  /** Text that waits, by its conversation: what follows is joined to it. */
  readonly #texts = new Map<ConversationId, WordOf<"delta">>()
  readonly #thoughts = new Map<ConversationId, WordOf<"thought">>()
  #stopPausing: (() => void) | undefined
  #soon: NodeJS.Immediate | undefined

  constructor(wire: Wire, to: Addressee, clock: Clock) {
    this.#wire = wire
    this.#to = to
    this.#clock = clock
  }

  /** A word as it is written; it goes out with all else that is said in this turn of the event loop. */
  add(word: string): void {
    this.#words.push(word)
    this.#soon ??= setImmediate(() => this.#send())
  }

  addText(delta: WordOf<"delta">): void {
    this.#texts.set(delta.id, joined(this.#texts.get(delta.id), delta))
    this.#sendSoon()
  }

  addThought(thought: WordOf<"thought">): void {
    this.#thoughts.set(thought.id, joined(this.#thoughts.get(thought.id), thought))
    this.#sendSoon()
  }

  #sendSoon(): void {
    this.#stopPausing ??= this.#clock.alarm(PACE_MS, () => this.#send(), "background")
  }

  /** What waits of a reply is said by the row that ends it. */
  dropText(id: ConversationId): void {
    this.#texts.delete(id)
    this.#thoughts.delete(id)
  }

  /** What waits is not sent. */
  clear(): void {
    this.#stopPausing?.()
    clearImmediate(this.#soon)
    this.#stopPausing = this.#soon = undefined
    this.#words = []
    this.#texts.clear()
    this.#thoughts.clear()
  }

  #send(): void {
    const words = this.#words
    for (const thought of this.#thoughts.values()) for (const part of partsOf(thought)) words.push(JSON.stringify(part))
    for (const text of this.#texts.values()) for (const part of partsOf(text)) words.push(JSON.stringify(part))
    this.clear()
    const full = Math.min(FULL, this.#wire.room)
    let [first, length] = [0, 0]
    for (const [at, word] of words.entries()) {
      if (at > first && length + word.length > full) {
        this.#post(words.slice(first, at))
        ;[first, length] = [at, 0]
      }
      length += word.length + 1 // and a comma
    }
    this.#post(words.slice(first))
  }

  #post(words: readonly string[]): void {
    if (words.length > 0) this.#wire.send(this.#to, writeLetter(this.#wire.self, words))
  }
}

type Growing = WordOf<"delta"> | WordOf<"thought">

/** What follows what waits is said together with it. */
function joined<Word extends Growing>(waiting: Word | undefined, more: Word): Word {
  const follows = waiting?.position === more.position && waiting.offset === more.offset - more.text.length
  return follows ? { ...more, text: waiting.text + more.text } : more
}

/** The same text in words that a wire can carry. */
export function partsOf<Word extends Growing>(delta: Word): readonly Word[] {
  if (delta.text.length <= PART) return [delta] // nearly always
  const start = delta.offset - delta.text.length
  return Array.from({ length: Math.ceil(delta.text.length / PART) }, (_, at) => {
    const text = delta.text.slice(at * PART, (at + 1) * PART)
    return { ...delta, offset: start + at * PART + text.length, text }
  })
}

/** The log has one line for each reason in this time, however many messages a stranger sends. */
const LOG_EVERY_MS = 60_000
/** Names are what senders claim, so a stranger can make up any number of them. */
const MAX_NAMES = 100

const PROBLEM: Readonly<Record<RefusalReason, string>> = {
  "not encrypted": "the sender is a node of an older version, or an unknown program that can publish on NATS",
  "another key":
    "the sender has another MASTER_ENCRYPTION_KEY, or belongs to another cluster, which then needs its own PAWL_CLUSTER",
  forged: "the sender has another PAWL_CLUSTER, or is an unknown program that can publish on NATS",
  replayed: "a message arrived twice: it may have been recorded and replayed",
}

/** Messages on the bus that this node could not open: counted, logged now and then, and never acted on. */
export class RefusedMessages {
  readonly #ports: { readonly clock: Clock; readonly log: Log }
  readonly #counts = new Map<RefusalReason, { total: number; unlogged: number; loggedAt: number }>()
  readonly #senders = new Map<string, RefusalReason>()

  constructor(ports: { readonly clock: Clock; readonly log: Log }) {
    this.#ports = ports
  }

  /** How many there were by reason. */
  get totals(): ReadonlyMap<RefusalReason, number> {
    return new Map([...this.#counts].map(([reason, { total }]) => [reason, total]))
  }

  /** Why the last message was refused, by the name that its sender claims. */
  get senders(): ReadonlyMap<string, RefusalReason> {
    return this.#senders
  }

  note(sender: string, reason: RefusalReason): void {
    const now = monotonicOf(this.#ports.clock)
    const count = this.#counts.get(reason) ?? { total: 0, unlogged: 0, loggedAt: Number.NEGATIVE_INFINITY }
    this.#counts.set(reason, count)
    count.total++
    count.unlogged++
    if (this.#senders.size < MAX_NAMES || this.#senders.has(sender)) this.#senders.set(sender, reason)
    if (now - count.loggedAt < LOG_EVERY_MS) return
    const fields = { reason, sender, messages: count.unlogged, problem: PROBLEM[reason] }
    count.unlogged = 0
    count.loggedAt = now
    this.#ports.log.warn("bus_message_refused", fields)
  }
}
