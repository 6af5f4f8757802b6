import type { ConversationId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { type Clock, monotonicOf } from "../shared/time/clock.ts"
import type { RefusalReason } from "./message-cipher.ts"
import { type Addressee, MAX_MESSAGE, type BusTransport, type BusMessageOf, writeBatch } from "./wire.ts"

/** Text is gathered for one frame of a screen, because a model may write faster than a person can see. */
const TEXT_DELAY_MS = 16
/** The maximum batch, even if the connection accepts more: its receiver does nothing else while it reads one. */
const MAX_BATCH = 256 * 1024
/** A character may take up to six characters in JSON. */
const PART = MAX_MESSAGE / 8

/** Gathers messages to one node, or to all, and sends them in batches. */
export class Outbox {
  readonly #transport: BusTransport
  readonly #to: Addressee
  readonly #clock: Clock
  #messages: string[] = []
  /** Text that waits, by conversation; text that follows it is joined to it. */
  readonly #texts = new Map<ConversationId, BusMessageOf<"delta">>()
  readonly #thoughts = new Map<ConversationId, BusMessageOf<"thought">>()
  #cancelTimer: (() => void) | undefined
  #scheduled: NodeJS.Immediate | undefined

  constructor(transport: BusTransport, to: Addressee, clock: Clock) {
    this.#transport = transport
    this.#to = to
    this.#clock = clock
  }

  /** Adds a serialized message. It is sent at the end of this turn of the event loop. */
  add(message: string): void {
    this.#messages.push(message)
    this.#scheduled ??= setImmediate(() => this.#send())
  }

  addText(delta: BusMessageOf<"delta">): void {
    this.#texts.set(delta.id, joined(this.#texts.get(delta.id), delta))
    this.#scheduleText()
  }

  addThought(thought: BusMessageOf<"thought">): void {
    this.#thoughts.set(thought.id, joined(this.#thoughts.get(thought.id), thought))
    this.#scheduleText()
  }

  #scheduleText(): void {
    this.#cancelTimer ??= this.#clock.alarm(TEXT_DELAY_MS, () => this.#send(), "background")
  }

  /** Drops the waiting text of a reply: the row that ends the reply contains it. */
  dropText(id: ConversationId): void {
    this.#texts.delete(id)
    this.#thoughts.delete(id)
  }

  /** Drops everything that waits. */
  clear(): void {
    this.#cancelTimer?.()
    clearImmediate(this.#scheduled)
    this.#cancelTimer = this.#scheduled = undefined
    this.#messages = []
    this.#texts.clear()
    this.#thoughts.clear()
  }

  #send(): void {
    const messages = this.#messages
    for (const thought of this.#thoughts.values())
      for (const part of partsOf(thought)) messages.push(JSON.stringify(part))
    for (const text of this.#texts.values()) for (const part of partsOf(text)) messages.push(JSON.stringify(part))
    this.clear()
    const full = Math.min(MAX_BATCH, this.#transport.room)
    let [first, length] = [0, 0]
    for (const [at, message] of messages.entries()) {
      if (at > first && length + message.length > full) {
        this.#post(messages.slice(first, at))
        ;[first, length] = [at, 0]
      }
      length += message.length + 1 // and a comma
    }
    this.#post(messages.slice(first))
  }

  #post(messages: readonly string[]): void {
    if (messages.length > 0) this.#transport.send(this.#to, writeBatch(this.#transport.self, messages))
  }
}

type Growing = BusMessageOf<"delta"> | BusMessageOf<"thought">

/** Joins text that continues the waiting text. */
function joined<Message extends Growing>(waiting: Message | undefined, more: Message): Message {
  const follows = waiting?.position === more.position && waiting.offset === more.offset - more.text.length
  return follows ? { ...more, text: waiting.text + more.text } : more
}

/** Splits a text into messages that fit the connection. */
export function partsOf<Message extends Growing>(delta: Message): readonly Message[] {
  if (delta.text.length <= PART) return [delta] // almost always
  const start = delta.offset - delta.text.length
  return Array.from({ length: Math.ceil(delta.text.length / PART) }, (_, at) => {
    const text = delta.text.slice(at * PART, (at + 1) * PART)
    return { ...delta, offset: start + at * PART + text.length, text }
  })
}

/** One log line per reason in this time, however many messages a stranger sends. */
const LOG_EVERY_MS = 60_000
/** Senders choose their names, so a stranger can invent any number of them. */
const MAX_NAMES = 100

const PROBLEM: Readonly<Record<RefusalReason, string>> = {
  "not encrypted": "the sender is a node of an older version, or an unknown program that can publish on NATS",
  "another key":
    "the sender has another MASTER_ENCRYPTION_KEY, or belongs to another cluster, which then needs its own PAWL_CLUSTER",
  forged: "the sender has another PAWL_CLUSTER, or is an unknown program that can publish on NATS",
  replayed: "a message arrived twice: it may have been recorded and replayed",
}

/** Messages that this node could not open: counted, logged now and then, and ignored. */
export class RefusedMessages {
  readonly #ports: { readonly clock: Clock; readonly log: Log }
  readonly #counts = new Map<RefusalReason, { total: number; unlogged: number; loggedAt: number }>()
  readonly #senders = new Map<string, RefusalReason>()

  constructor(ports: { readonly clock: Clock; readonly log: Log }) {
    this.#ports = ports
  }

  /** The number of refused messages by reason. */
  get totals(): ReadonlyMap<RefusalReason, number> {
    return new Map([...this.#counts].map(([reason, { total }]) => [reason, total]))
  }

  /** The last reason by claimed sender. */
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
