import { z } from "zod"
import { type NewsKind, newsKinds } from "../engine/ports.ts"
import { CallProgress } from "../protocol/conversation/tool-calls.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import { NodeMessage, type NodeMessages } from "../protocol/node-messages.ts"
import type { Log } from "../shared/log.ts"
import { jsonLimits, tryReadJson } from "../shared/text/read-json.ts"

/**
 * The connection between the nodes of a cluster. Correctness does not depend on it: messages may be lost, and while it
 * is down nothing is sent or queued. Messages between two nodes arrive in order.
 */
export interface BusTransport extends AsyncDisposable {
  /** The name of this node. */
  readonly self: string
  readonly up: boolean
  /** The last round-trip time to the server in between; undefined while the connection is down. */
  readonly lagMs: number | undefined
  /** Bytes that were sent and not yet confirmed by a round trip. */
  readonly unconfirmed: number
  /** The characters of one batch, also if each takes several bytes. No message is longer than `MAX_MESSAGE`. */
  readonly room: number
  send(to: Addressee, text: string): void
  /** Registers the receiver of messages to this node or to all, and of changes of the connection. */
  setReceiver(receiver: TransportReceiver): void
  /** Sends a text to one node and waits for its receipt. */
  deliver(to: string, text: string): Promise<Delivery>
  onDelivery(listener: (text: string) => void): void
}

/** `taken`: it has the text. `nobody`: it does not have it. `unknown`: no receipt arrived. */
export type Delivery = "taken" | "nobody" | "unknown"

/** The longest single message, in characters. A connection with less room cannot be used. */
export const MAX_MESSAGE: number = 20_000

/** The name of one node, or all other nodes. */
export type Addressee = string | typeof ALL_NODES
export const ALL_NODES: unique symbol = Symbol("everybody")

export interface TransportReceiver {
  received(text: string): void
  /**
   * A broadcast of this node was dropped, because it may be a replayed recording. Its broadcasts are dropped until it
   * sends a direct message.
   */
  unknownSender(node: string): void
  changed(): void
}

const conversation = z.custom<ConversationId>((value) => typeof value === "string")
const user = z.custom<UserId>((value) => typeof value === "string")
const count = z.int().min(0)
const watched = () => ({ conversations: z.array(conversation), people: z.array(user) })

/** Messages between nodes. Only nodes of the cluster send them, but they may be of another version. */
const busMessage = z.discriminatedUnion("type", [
  /** A node has started or missed something: announce what your clients watch. */
  z.object({ type: z.literal("hello") }),
  /** The conversations and people that clients of the node watch; `whole`: this is the complete list. */
  z.object({ type: z.literal("watch"), ...watched(), whole: z.boolean().optional() }),
  z.object({ type: z.literal("leave"), ...watched() }),
  /**
   * A heartbeat with the number of watches: a receiver that counted otherwise has missed something. `at` is the
   * sender's monotonic time, which receivers return, so that it can measure the round trip without comparing clocks.
   */
  z.object({ type: z.literal("beat"), conversations: count, people: count, at: z.number().optional() }),
  z.object({ type: z.literal("echo"), at: z.number() }),
  /** More text of a reply; `offset` is where it ends. */
  z.object({ type: z.literal("delta"), id: conversation, position: count, offset: count, text: z.string() }),
  /** The same for reasoning, with its duration so far. */
  z.object({
    type: z.literal("thought"),
    ...{ id: conversation, position: count, offset: count, text: z.string(), ms: z.number() },
  }),
  /** The progress of a tool call that runs on the sender. */
  z.object({ type: z.literal("progress"), id: conversation, ...CallProgress.shape }),
  /** The received text has a gap: send the reply from its start. */
  z.object({ type: z.literal("again"), id: conversation }),
  z.object({ type: z.literal("rows"), id: conversation, user, events: z.array(z.custom<JournalEvent>(isRow)) }),
  /** Sent in place of rows that are too long, or that may not be sent. */
  z.object({ type: z.literal("written"), id: conversation, position: count }),
  z.object({ type: z.literal("rest"), id: conversation }),
  /** The sender continues this conversation. Its previous owner may not know that. */
  z.object({ type: z.literal("taken_up"), id: conversation }),
  z.object({ type: z.literal("gone"), id: conversation, user }),
  /** An event in a conversation of a person whose conversations are watched as a whole. */
  z.object({ type: z.literal("happened"), user, id: conversation, types: z.array(z.string()) }),
  z.object({
    type: z.literal("news"),
    user,
    kind: z.custom<NewsKind>((kind) => newsKinds.some((known) => known === kind)),
  }),
  z.object({ type: z.literal("wake"), id: conversation }),
  z.object({ type: z.literal("revoked") }),
])

export type BusMessage = z.infer<typeof busMessage>
export type BusMessageOf<Type extends BusMessage["type"]> = Extract<BusMessage, { readonly type: Type }>

const envelope = z.object({ from: z.string(), words: z.array(z.unknown()) })

/** Takes messages that are already serialized. */
export const writeBatch = (from: string, words: readonly string[]): string =>
  `{"from":${JSON.stringify(from)},"words":[${words.join(",")}]}`

/** Undefined if the text is malformed. Leaves out messages of newer versions. */
export function readBatch(text: string): { readonly from: string; readonly words: BusMessage[] } | undefined {
  const data = parseEnvelope(text)
  if (!data) return undefined
  const words = data.words.flatMap((unread) => {
    const known = busMessage.safeParse(unread)
    return known.success ? [known.data] : []
  })
  return { from: data.from, words }
}

/** Parses the envelope only. */
const parseEnvelope = (text: string): z.infer<typeof envelope> | undefined =>
  envelope.safeParse(tryReadJson(text, jsonLimits.workspace)).data

/** Checks what every row has. The rest is as its writer's version wrote it, as in the journal. */
function isRow(value: unknown): boolean {
  const row = value as Partial<Record<string, unknown>> | null
  return typeof row === "object" && row !== null && typeof row.type === "string" && typeof row.position === "number"
}

type Listener = Parameters<NodeMessages["subscribe"]>[0]

interface Ports {
  /** Delivers messages that the connection cannot: slower, and stored until they are read. */
  readonly mail: NodeMessages
  readonly log: Log
}

/**
 * Sends messages to one node over the connection, if it confirms them, and otherwise by mail. A message without a
 * receipt may arrive twice; receivers ignore the second one.
 */
export class DirectMessages implements NodeMessages {
  readonly #transport: BusTransport
  readonly #ports: Ports
  readonly #listeners = new Set<Listener>()

  constructor(transport: BusTransport, ports: Ports) {
    this.#transport = transport
    this.#ports = ports
    transport.onDelivery((text) => this.#receive(text))
  }

  get self(): string {
    return this.#transport.self
  }

  async send(to: string, message: NodeMessage): Promise<boolean> {
    const text = JSON.stringify({ from: this.self, words: [message] })
    const delivery = await this.#transport.deliver(to, text)
    if (delivery === "taken") return true
    const isMailed = await this.#ports.mail.send(to, message)
    // It may have arrived over the connection, so it must not be reported as not sent.
    return isMailed || delivery === "unknown"
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    const leave = this.#ports.mail.subscribe(listener)
    return () => {
      this.#listeners.delete(listener)
      leave()
    }
  }

  #receive(text: string): void {
    const envelope = parseEnvelope(text)
    const { data, error } = NodeMessage.safeParse(envelope?.words[0])
    // A node of a newer version may send messages that this one does not know.
    if (!envelope || !data)
      return this.#ports.log.warn("node_message_not_understood", { sender: envelope?.from, error })
    for (const listener of this.#listeners) listener(data, envelope.from)
  }
}
