import { monotonicOf } from "../shared/time/clock.ts"
import type { Bus, Happened, Live, LiveReply, NewsKind, Watched } from "../engine/ports.ts"
import { type Log, silentLog } from "../shared/log.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import { InProcessBus } from "./in-process.ts"
import { NodeSender, UnreachableNodes, type SenderOptions } from "./node-connection.ts"
import {
  type Addressee,
  ALL_NODES,
  type BusMessage,
  readBatch,
  type BusTransport,
  type BusMessageOf,
  writeBatch,
} from "./wire.ts"
import { LocalWatches, portionsOf } from "./interest.ts"

/** How often a node sends a heartbeat. */
const HEARTBEAT_MS = 2000
/** A node without a heartbeat for this long is treated as gone. */
const SILENT_MS = 5 * HEARTBEAT_MS

export interface ClusterOptions extends SenderOptions {
  /** The nodes that the database lists as alive. One of them may have no connection to NATS. */
  others?(): Iterable<string>
  readonly log?: Log
}

/**
 * The bus of one node of several. Each node announces which conversations and people its clients watch; a node that
 * writes sends events only to those nodes. All of it only saves time: the journal is polled now and then, and whenever
 * a message may have been lost.
 */
export class ClusterBus implements Bus, AsyncDisposable {
  readonly #local = new InProcessBus()
  readonly #transport: BusTransport
  readonly #options: ClusterOptions
  readonly #sender: NodeSender
  readonly #watches: LocalWatches
  readonly #unreachable: UnreachableNodes
  readonly #revokedListeners = new Set<() => void>()
  readonly #doubtListeners = new Set<(about?: Watched) => void>()
  /** Nodes that were asked for a direct message since the last heartbeat. */
  readonly #askedNodes = new Set<string>()
  #stopHeartbeat: () => void = () => {}

  constructor(transport: BusTransport, options: ClusterOptions) {
    this.#transport = transport
    this.#options = options
    this.#sender = new NodeSender(transport, options)
    this.#unreachable = new UnreachableNodes(options.log ?? silentLog)
    this.#watches = new LocalWatches({
      clock: options.clock,
      send: (message) => this.#sender.send(ALL_NODES, message),
      settled: (fresh) => transport.up && this.#doubt(fresh),
    })
    transport.setReceiver({
      received: (text) => this.#receive(text),
      unknownSender: (node) => this.#requestDirectMessage(node),
      changed: () => this.#onConnectionChange(),
    })
    if (transport.up) this.#onConnectionChange()
    this.#heartbeat()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopHeartbeat()
    this.#watches.close()
    this.#sender.forgetAll()
    await this.#transport[Symbol.asyncDispose]()
  }

  publish(id: ConversationId, live: Live): void {
    this.#local.publish(id, live)
    this.#sender.publish(id, live)
  }

  subscribe(id: ConversationId, listener: (live: Live) => void): () => void {
    const [leave, unsubscribe] = [this.#watches.conversation(id), this.#local.subscribe(id, listener)]
    return () => {
      leave()
      unsubscribe()
      if (!this.#watches.isWatched(id) && !this.#sender.isWriting(id)) this.#local.forgetReply(id)
    }
  }

  subscribeUser(user: UserId, listener: (id: ConversationId, happened: readonly Happened[]) => void): () => void {
    return both(this.#watches.person(user), this.#local.subscribeUser(user, listener))
  }

  subscribeNews(user: UserId, listener: (kind: NewsKind) => void): () => void {
    return both(this.#watches.person(user), this.#local.subscribeNews(user, listener))
  }

  publishNews(user: UserId, kind: NewsKind): void {
    this.#local.publishNews(user, kind)
  }

  spreadNews(user: UserId, kind: NewsKind): void {
    this.#sender.sendToEach(this.#sender.interest.ofPerson(user), { type: "news", user, kind })
  }

  watched(): Watched {
    return this.#local.watched()
  }

  soFar(id: ConversationId): Promise<LiveReply | undefined> {
    return this.#local.soFar(id)
  }

  wake(id: ConversationId): void {
    this.#local.wake(id)
    this.#sender.send(ALL_NODES, { type: "wake", id })
  }

  onWake(listener: (id: ConversationId, from: "here" | "elsewhere") => void): () => void {
    return this.#local.onWake(listener)
  }

  spreadRevoked(): void {
    this.#sender.send(ALL_NODES, { type: "revoked" })
  }

  onRevoked(listener: () => void): () => void {
    this.#revokedListeners.add(listener)
    return () => this.#revokedListeners.delete(listener)
  }

  hearsOthers(): boolean {
    return this.#transport.up && this.#unreachableNow().length === 0
  }

  /** Some nodes are alive in the database but do not answer, although NATS is connected. */
  get isPartial(): boolean {
    return this.#transport.up && this.#unreachable.any
  }

  #unreachableNow(): string[] {
    return [...(this.#options.others?.() ?? [])].filter((node) => !this.#sender.interest.knows(node))
  }

  /** The round-trip time of a message to each of the other nodes. */
  lagsMs(): Map<string, number> {
    return this.#sender.interest.lagsMs(monotonicOf(this.#options.clock))
  }

  onDoubt(listener: (about?: Watched) => void): () => void {
    this.#doubtListeners.add(listener)
    return () => this.#doubtListeners.delete(listener)
  }

  #receive(text: string): void {
    const batch = readBatch(text)
    if (!batch || batch.from === this.#transport.self) return
    const { interest } = this.#sender
    // A node that sends `hello` is known from now on, but has not announced yet what its clients watch.
    if (!interest.knows(batch.from) && batch.words.some(({ type }) => type === "hello"))
      this.#sender.send(batch.from, { type: "hello" })
    interest.received(batch.from, monotonicOf(this.#options.clock))
    for (const message of batch.words) this.#apply(batch.from, message)
  }

  /**
   * Asks a node for a direct message, once per heartbeat: its broadcasts may be recorded ones replayed by an attacker.
   */
  #requestDirectMessage(node: string): void {
    if (this.#askedNodes.has(node)) return
    this.#askedNodes.add(node)
    this.#transport.send(
      node,
      writeBatch(this.#transport.self, [JSON.stringify({ type: "hello" } satisfies BusMessage)]),
    )
  }

  #apply(from: string, message: BusMessage): void {
    const [local, sender] = [this.#local, this.#sender]
    switch (message.type) {
      case "hello":
        return this.#announceWatches(from)
      case "watch":
        return this.#onWatch(from, message)
      case "leave":
        return sender.interest.remove(from, message)
      case "beat":
        return this.#onHeartbeat(from, message)
      case "echo":
        return sender.interest.heartbeatAnswered(from, message.at, monotonicOf(this.#options.clock))
      case "delta":
        return this.#onText(from, message)
      case "thought":
        return this.#onReasoning(from, message)
      case "progress": {
        const { type: _, id, ...progress } = message
        return local.publish(id, { type: "tool_progress", ...progress })
      }
      case "again":
        return sender.sendReply(from, message.id, local.openReply(message.id))
      case "rows":
        return local.publish(message.id, { type: "events", user: message.user, events: message.events })
      case "taken_up":
        return this.#doubt({ conversations: [message.id], people: [] })
      case "written":
        return local.publish(message.id, { type: "recorded", position: message.position, atWork: true })
      case "rest":
        return local.publish(message.id, { type: "rest" })
      case "gone":
        return local.publish(message.id, { type: "gone", user: message.user })
      case "happened":
        return local.publishToUser(
          message.user,
          message.id,
          message.types.map((type) => ({ type })),
        )
      case "news":
        return local.publishNews(message.user, message.kind)
      case "wake":
        return local.wake(message.id, "elsewhere")
      case "revoked":
        for (const listener of this.#revokedListeners) listener()
    }
  }

  #onWatch(from: string, message: BusMessageOf<"watch">): void {
    const { interest } = this.#sender
    const fresh = message.whole ? interest.replace(from, message) : interest.add(from, message)
    for (const id of fresh) this.#sender.sendReply(from, id, this.#local.openReply(id))
  }

  #onHeartbeat(from: string, { at, ...hasCounts }: BusMessageOf<"beat">): void {
    if (!this.#sender.interest.hasCounts(from, hasCounts)) this.#sender.send(from, { type: "hello" })
    if (at !== undefined) this.#sender.send(from, { type: "echo", at })
  }

  /** Appends only text that follows what is known. If something is missing, it is requested from its start. */
  #onText(from: string, { id, position, offset, text }: BusMessageOf<"delta">): void {
    if (!this.#watches.announced.conversations.has(id)) return // the last watcher has left, so nothing would remove the text
    const open = this.#local.openReply(id)
    const start = offset - text.length
    const known = open?.position === position ? open.length : 0
    if (start > known) return this.#sender.send(from, { type: "again", id })
    if (start > 0 && offset <= known) return // a duplicate
    const rest = start === 0 ? text : text.slice(known - start)
    this.#local.publish(id, { type: "text_delta", position, offset, text: rest })
  }

  #onReasoning(from: string, { id, position, offset, text, ms }: BusMessageOf<"thought">): void {
    if (!this.#watches.announced.conversations.has(id)) return
    const open = this.#local.openReply(id)
    const start = offset - text.length
    const known = open?.position === position ? (open.thought?.text.length ?? 0) : 0
    if (start > known) return this.#sender.send(from, { type: "again", id })
    if (offset <= known) return // a duplicate, or repeated from its start for the text
    this.#local.publish(id, { type: "reasoning_delta", position, offset, text: text.slice(known - start), ms })
  }

  #announceWatches(to: Addressee): void {
    const { conversations, people } = this.#watches.announced
    const portions = portionsOf({ conversations: [...conversations], people: [...people] })
    this.#sender.send(to, { type: "watch", whole: true, conversations: [], people: [], ...portions[0] })
    for (const portion of portions.slice(1)) this.#sender.send(to, { type: "watch", ...portion })
  }

  /** The connection came, went or lost messages. Nodes that were known may be gone, and may have missed ours. */
  #onConnectionChange(): void {
    this.#sender.forgetAll()
    if (this.#transport.up) {
      this.#announceWatches(ALL_NODES)
      this.#sender.send(ALL_NODES, { type: "hello" })
      this.#sendHeartbeat()
    }
    this.#doubt()
  }

  #heartbeat(): void {
    const { clock } = this.#options
    this.#askedNodes.clear()
    this.#sendHeartbeat()
    const now = monotonicOf(clock)
    this.#sender.forgetSilent(now - SILENT_MS)
    // While the connection is down no node answers, and that was already logged.
    if (this.#transport.up) this.#unreachable.update(this.#unreachableNow(), now)
    this.#stopHeartbeat = clock.alarm(HEARTBEAT_MS, () => this.#heartbeat(), "background")
  }

  #sendHeartbeat(): void {
    const { conversations, people } = this.#watches.announced
    const at = monotonicOf(this.#options.clock)
    this.#sender.interest.heartbeatSent(at)
    this.#sender.send(ALL_NODES, { type: "beat", conversations: conversations.size, people: people.size, at })
  }

  #doubt(about?: Watched): void {
    for (const listener of this.#doubtListeners) listener(about)
  }
}

const both = (first: () => void, second: () => void) => () => {
  first()
  second()
}
