import type { Happened, Live, LiveReply } from "../engine/ports.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { rowsLength } from "../shared/text/json.ts"
import type { Clock } from "../shared/time/clock.ts"
import { Interest } from "./interest.ts"
import { Outbox, partsOf } from "./outbox.ts"
import {
  type Addressee,
  ALL_NODES,
  MAX_MESSAGE,
  type BusMessage,
  type BusTransport,
  type BusMessageOf,
} from "./wire.ts"

export interface SenderOptions {
  readonly clock: Clock
  /** If false, only positions and ids are sent, and other nodes read the text from the journal. */
  readonly carriesText: boolean
}

/** Sends what happens in this process to the nodes whose clients watch it. */
export class NodeSender {
  readonly interest: Interest = new Interest()
  readonly #transport: BusTransport
  readonly #options: SenderOptions
  readonly #outboxes = new Map<Addressee, Outbox>()
  /** Conversations whose open reply is written in this process, which therefore sends its text. */
  readonly #writing = new Set<ConversationId>()

  constructor(transport: BusTransport, options: SenderOptions) {
    this.#transport = transport
    this.#options = options
  }

  /** Events that were read from the journal are not forwarded: the other nodes read it too. */
  publish(id: ConversationId, live: Live): void {
    if (live.type === "recorded") return
    if (live.type === "tool_progress") return this.#sendProgress(id, live)
    if (live.type === "text_delta" || live.type === "reasoning_delta") this.#writing.add(id)
    else if (live.type !== "seen") this.#writing.delete(id)
    const nodes = this.interest.ofConversation(id)
    if (live.type === "text_delta" || live.type === "reasoning_delta") return this.#sendText(id, live, nodes)
    if (live.type === "rest") return this.sendToEach(nodes, { type: "rest", id })
    if (live.user === undefined) return
    if (live.type === "gone") this.sendToEach(nodes, { type: "gone", id, user: live.user })
    const sentRows = live.type === "events" && this.#sendRows(id, live, nodes)
    if (live.type === "events" && live.events.some(({ type }) => type === "restarted"))
      this.send(ALL_NODES, { type: "taken_up", id })
    const others = [...this.interest.ofPerson(live.user)].filter((node) => !sentRows || !nodes.has(node))
    const happened: readonly Happened[] = live.type === "events" ? live.events : []
    // Without duplicates: a fork commits thousands of events together.
    const types = [...new Set(happened.map(({ type }) => type))]
    this.sendToEach(others, { type: "happened", user: live.user, id, types })
  }

  isWriting(id: ConversationId): boolean {
    return this.#writing.has(id)
  }

  /** Sends the open reply from its start, so that a client that subscribes later sees all of it. */
  sendReply(to: string, id: ConversationId, open: LiveReply | undefined): void {
    if (!open || !this.#writing.has(id) || !this.#options.carriesText) return
    this.#outbox(to).dropText(id) // the message below contains it
    const { position, text, thought } = open
    if (thought) {
      const message = { type: "thought", id, position, offset: thought.text.length, ...thought } as const
      for (const part of partsOf<BusMessageOf<"thought">>(message)) this.send(to, part)
    }
    if (text === "") return
    for (const part of partsOf({ type: "delta", id, position, offset: text.length, text })) this.send(to, part)
  }

  send(to: Addressee, message: BusMessage): void {
    if (this.#transport.up) this.#outbox(to).add(JSON.stringify(message))
  }

  sendToEach(nodes: Iterable<string>, message: BusMessage): void {
    let written: string | undefined
    for (const node of nodes) this.#outbox(node).add((written ??= JSON.stringify(message)))
  }

  /** The known nodes may be gone, and queued messages are out of date. */
  forgetAll(): void {
    this.interest.forgetAll()
    for (const outbox of this.#outboxes.values()) outbox.clear()
    this.#outboxes.clear()
  }

  /** Removes the nodes that have been silent since then. */
  forgetSilent(since: number): void {
    for (const node of this.interest.forgetSilent(since)) {
      this.#outboxes.get(node)?.clear()
      this.#outboxes.delete(node)
    }
  }

  #sendProgress(id: ConversationId, { type: _, ...progress }: Extract<Live, { type: "tool_progress" }>): void {
    if (this.#options.carriesText)
      this.sendToEach(this.interest.ofConversation(id), { type: "progress", id, ...progress })
  }

  #sendText(id: ConversationId, live: Growing, nodes: ReadonlySet<string>): void {
    if (!this.#options.carriesText) return
    const { position, offset, text } = live
    if (live.type === "reasoning_delta") {
      const message = { type: "thought", id, position, offset, text, ms: live.ms } as const
      for (const node of nodes) this.#outbox(node).addThought(message)
      return
    }
    for (const node of nodes) this.#outbox(node).addText({ type: "delta", id, position, offset, text })
  }

  /** Returns false if only the position was sent. */
  #sendRows(id: ConversationId, { user, events }: CommittedEvents, nodes: ReadonlySet<string>): boolean {
    const rows = this.#options.carriesText && rowsLength(events) <= MAX_MESSAGE ? toRows(id, user, events) : undefined
    const carried = rows !== undefined && rows.length <= MAX_MESSAGE // those that are longer are read where they are watched
    for (const node of nodes) this.#outbox(node).dropText(id)
    const position = events.at(-1)?.position ?? 0
    const message = carried ? rows : JSON.stringify({ type: "written", id, position } satisfies BusMessage)
    for (const node of nodes) this.#outbox(node).add(message)
    return carried
  }

  #outbox(to: Addressee): Outbox {
    const outbox = this.#outboxes.get(to) ?? new Outbox(this.#transport, to, this.#options.clock)
    this.#outboxes.set(to, outbox)
    return outbox
  }
}

const toRows = (id: ConversationId, user: UserId, events: CommittedEvents["events"]): string =>
  JSON.stringify({ type: "rows", id, user, events: [...events] } satisfies BusMessage)

type Growing = Extract<Live, { type: "text_delta" | "reasoning_delta" }>
type CommittedEvents = { readonly user: UserId } & Pick<Extract<Live, { type: "events" }>, "events">

/** A node that has just started or failed is unreachable for a moment; that is normal. */
const GRACE_MS = 15_000

const PROBLEM =
  "these nodes are alive but cannot be reached through NATS, so their events arrive up to two seconds later. " +
  "their NATS_URL or PAWL_CLUSTER may differ. `pawl doctor` shows details"

/**
 * Nodes that are alive but unreachable although NATS is connected: they use another NATS, another cluster name, or
 * none.
 */
export class UnreachableNodes {
  readonly #log: Log
  readonly #since = new Map<string, number>()
  #names: readonly string[] = []

  constructor(log: Log) {
    this.#log = log
  }

  /** Some nodes have been unreachable for a while. */
  get any(): boolean {
    return this.#names.length > 0
  }

  /** Updates the list. Logs when nodes become unreachable, and when all are reachable again. */
  update(unreachable: readonly string[], now: number): void {
    for (const node of this.#since.keys()) if (!unreachable.includes(node)) this.#since.delete(node)
    for (const node of unreachable) if (!this.#since.has(node)) this.#since.set(node, now)
    const names = unreachable.filter((node) => now - (this.#since.get(node) ?? now) >= GRACE_MS)
    const before = this.#names
    this.#names = names
    if (names.some((node) => !before.includes(node))) this.#log.warn("bus_partial", { nodes: names, problem: PROBLEM })
    else if (before.length > 0 && names.length === 0) this.#log.info("bus_complete", {})
  }
}
