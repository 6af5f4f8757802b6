import { z } from "zod"
import { type NewsKind, newsKinds } from "../engine/ports.ts"
import { CallProgress } from "../protocol/conversation/tool-calls.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import { NodeMessage, type NodeMessages } from "../protocol/node-messages.ts"
import type { Log } from "../shared/log.ts"
import { jsonLimits, tryReadJson } from "../shared/text/read-json.ts"

/**
 * How the processes of one cluster hear each other. Nothing true depends on it: what it carries may be lost, and while it
 * is down nothing is sent or kept for later. Between two processes nothing overtakes.
 */
export interface Wire extends AsyncDisposable {
  /** The name of this process among the others. */
  readonly self: string
  readonly up: boolean
  /** How long the way to whoever carries it and back took the last time; undefined while it is down. */
  readonly lagMs: number | undefined
  /** How much was sent of which nothing has been heard yet. */
  readonly unheard: number
  /** So many characters are surely carried at a time, whatever they are. No single word is longer than `MAX_WORD`. */
  readonly room: number
  send(to: Addressee, text: string): void
  /** Called with whatever was sent to this process or to everybody, and when the wire goes up, goes down or has lost something. */
  listen(ears: WireEars): void
  /** Hands a text to one process. */
  deliver(to: string, text: string): Promise<Delivery>
  onDelivery(listener: (text: string) => void): void
}

/** `taken`: it has the text. `nobody`: it surely has not. `unknown`: nothing was heard of it. */
export type Delivery = "taken" | "nobody" | "unknown"

/** The longest that one process says in one word, in characters: a wire with less room is of no use. */
export const MAX_WORD: number = 20_000

/** One process by its name, or all but oneself. */
export type Addressee = string | typeof EVERYBODY
export const EVERYBODY: unique symbol = Symbol("everybody")

export interface WireEars {
  heard(text: string): void
  /**
   * This process has sent something to all, or somebody sends again what it once sent. It was dropped, and what it sends to
   * all is dropped until it sends something to this process alone.
   */
  unmet(node: string): void
  changed(): void
}

const conversation = z.custom<ConversationId>((value) => typeof value === "string")
const user = z.custom<UserId>((value) => typeof value === "string")
const count = z.int().min(0)
const watched = () => ({ conversations: z.array(conversation), people: z.array(user) })

/** What one process says to others. Only processes of the cluster speak on its wire, but they may be of another version. */
const word = z.discriminatedUnion("type", [
  /** It has just come, or has missed something: say what you watch. */
  z.object({ type: z.literal("hello") }),
  /** Somebody watches these there; `whole`: these and no others. */
  z.object({ type: z.literal("watch"), ...watched(), whole: z.boolean().optional() }),
  z.object({ type: z.literal("leave"), ...watched() }),
  /**
   * It is there, and watches so many: whoever has counted otherwise has missed something. `at` is a moment of its own, which
   * others give back to it: so it learns how long a word takes, without anybody's time of day.
   */
  z.object({ type: z.literal("beat"), conversations: count, people: count, at: z.number().optional() }),
  z.object({ type: z.literal("echo"), at: z.number() }),
  /** More of a reply; `offset` is where it ends. */
  z.object({ type: z.literal("delta"), id: conversation, position: count, offset: count, text: z.string() }),
  /** And of what is thought for it, with how long that took. */
  z.object({
    type: z.literal("thought"),
    ...{ id: conversation, position: count, offset: count, text: z.string(), ms: z.number() },
  }),
  /** How far a call is that runs there. */
  z.object({ type: z.literal("progress"), id: conversation, ...CallProgress.shape }),
  /** What comes does not follow what was heard of this reply: say it from its beginning. */
  z.object({ type: z.literal("again"), id: conversation }),
  z.object({ type: z.literal("rows"), id: conversation, user, events: z.array(z.custom<JournalEvent>(isRow)) }),
  /** The same where rows are too long to be carried, or may not be. */
  z.object({ type: z.literal("written"), id: conversation, position: count }),
  z.object({ type: z.literal("rest"), id: conversation }),
  /** It goes on there: whoever had it before may not know that. */
  z.object({ type: z.literal("taken_up"), id: conversation }),
  z.object({ type: z.literal("gone"), id: conversation, user }),
  /** Something has happened in a conversation of a person all of whose things are watched there. */
  z.object({ type: z.literal("happened"), user, id: conversation, types: z.array(z.string()) }),
  z.object({
    type: z.literal("news"),
    user,
    kind: z.custom<NewsKind>((kind) => newsKinds.some((known) => known === kind)),
  }),
  z.object({ type: z.literal("wake"), id: conversation }),
  z.object({ type: z.literal("revoked") }),
])

export type NodeWord = z.infer<typeof word>
export type WordOf<Type extends NodeWord["type"]> = Extract<NodeWord, { readonly type: Type }>

const letter = z.object({ from: z.string(), words: z.array(z.unknown()) })

/** Of words that are written already. */
export const writeLetter = (from: string, words: readonly string[]): string =>
  `{"from":${JSON.stringify(from)},"words":[${words.join(",")}]}`

/** Undefined where it is none. Words that a newer version says and this one does not know are left out. */
export function readLetter(text: string): { readonly from: string; readonly words: NodeWord[] } | undefined {
  const data = parsedLetter(text)
  if (!data) return undefined
  const words = data.words.flatMap((said) => {
    const known = word.safeParse(said)
    return known.success ? [known.data] : []
  })
  return { from: data.from, words }
}

/** Whose it is, with words that nobody has looked at. */
const parsedLetter = (text: string): z.infer<typeof letter> | undefined =>
  letter.safeParse(tryReadJson(text, jsonLimits.workspace)).data

/** What every row has; the rest is as its writer's version wrote it, as in the journal. */
function isRow(value: unknown): boolean {
  const row = value as Partial<Record<string, unknown>> | null
  return typeof row === "object" && row !== null && typeof row.type === "string" && typeof row.position === "number"
}

type Listener = Parameters<NodeMessages["subscribe"]>[0]

interface Ports {
  /** How a message goes to whom the wire does not reach: slower, and it waits there. */
  readonly mail: NodeMessages
  readonly log: Log
}

/**
 * Messages to one process at once, by a wire, where it is there and says that it has the message; by mail otherwise, also
 * where that is not known: whoever gets a message twice does nothing twice.
 */
export class WireMessages implements NodeMessages {
  readonly #wire: Wire
  readonly #ports: Ports
  readonly #listeners = new Set<Listener>()

  constructor(wire: Wire, ports: Ports) {
    this.#wire = wire
    this.#ports = ports
    wire.onDelivery((text) => this.#hear(text))
  }

  get self(): string {
    return this.#wire.self
  }

  async send(to: string, message: NodeMessage): Promise<boolean> {
    const text = JSON.stringify({ from: this.self, words: [message] })
    const delivery = await this.#wire.deliver(to, text)
    if (delivery === "taken") return true
    const isMailed = await this.#ports.mail.send(to, message)
    // It may have come by the wire: whoever says now that it was surely not sent would be wrong.
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

  #hear(text: string): void {
    const letter = parsedLetter(text)
    const { data, error } = NodeMessage.safeParse(letter?.words[0])
    // Of a node of another version: it may say things that are not known here.
    if (!letter || !data) return this.#ports.log.warn("node_message_not_understood", { sender: letter?.from, error })
    for (const listener of this.#listeners) listener(data, letter.from)
  }
}
