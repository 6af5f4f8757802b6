import type { Happened, Live, LiveReply } from "../engine/ports.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import { rowsLength } from "../shared/text/json.ts"
import type { Clock } from "../shared/time/clock.ts"
import { Interest } from "./interest.ts"
import { Outbox, partsOf } from "./outbox.ts"
import { type Addressee, EVERYBODY, MAX_WORD, type NodeWord, type Wire, type WordOf } from "./wire.ts"

export interface VoiceOptions {
  readonly clock: Clock
  /** Without words only positions and names of conversations and people are carried; what was written is read from the record. */
  readonly carriesWords: boolean
}

/** What this process says to others: what happens here, to those who watch it, and to nobody else. */
export class NodeVoice {
  readonly interest: Interest = new Interest()
  readonly #wire: Wire
  readonly #options: VoiceOptions
  readonly #outboxes = new Map<Addressee, Outbox>()
  /** Conversations whose open reply is written here: their text is ours to tell. */
  readonly #writing = new Set<ConversationId>()

  constructor(wire: Wire, options: VoiceOptions) {
    this.#wire = wire
    this.#options = options
  }

  /** What was found in the record is not told on: the others find it there. */
  tell(id: ConversationId, live: Live): void {
    if (live.type === "recorded") return
    if (live.type === "tool_progress") return this.#tellProgress(id, live)
    if (live.type === "text_delta" || live.type === "reasoning_delta") this.#writing.add(id)
    else if (live.type !== "seen") this.#writing.delete(id)
    const nodes = this.interest.ofConversation(id)
    if (live.type === "text_delta" || live.type === "reasoning_delta") return this.#tellText(id, live, nodes)
    if (live.type === "rest") return this.sayAll(nodes, { type: "rest", id })
    if (live.user === undefined) return
    if (live.type === "gone") this.sayAll(nodes, { type: "gone", id, user: live.user })
    const toldRows = live.type === "events" && this.#tellRows(id, live, nodes)
    if (live.type === "events" && live.events.some(({ type }) => type === "restarted"))
      this.say(EVERYBODY, { type: "taken_up", id })
    const others = [...this.interest.ofPerson(live.user)].filter((node) => !toldRows || !nodes.has(node))
    const happened: readonly Happened[] = live.type === "events" ? live.events : []
    // Each once: of a fork thousands are written together.
    const types = [...new Set(happened.map(({ type }) => type))]
    this.sayAll(others, { type: "happened", user: live.user, id, types })
  }

  isWriting(id: ConversationId): boolean {
    return this.#writing.has(id)
  }

  /** A reply that is being written here, from its beginning: whoever comes late sees all of it. */
  tellReply(to: string, id: ConversationId, open: LiveReply | undefined): void {
    if (!open || !this.#writing.has(id) || !this.#options.carriesWords) return
    this.#outbox(to).dropText(id) // it is in what is said now
    const { position, text, thought } = open
    if (thought) {
      const word = { type: "thought", id, position, offset: thought.text.length, ...thought } as const
      for (const part of partsOf<WordOf<"thought">>(word)) this.say(to, part)
    }
    if (text === "") return
    for (const part of partsOf({ type: "delta", id, position, offset: text.length, text })) this.say(to, part)
  }

  say(to: Addressee, word: NodeWord): void {
    if (this.#wire.up) this.#outbox(to).add(JSON.stringify(word))
  }

  sayAll(nodes: Iterable<string>, word: NodeWord): void {
    let written: string | undefined
    for (const node of nodes) this.#outbox(node).add((written ??= JSON.stringify(word)))
  }

  /** Who was heard may be gone, and what was to be said to them is late. */
  forgetEverybody(): void {
    this.interest.forgetAll()
    for (const outbox of this.#outboxes.values()) outbox.clear()
    this.#outboxes.clear()
  }

  /** Those who were not heard since then. */
  forgetSilent(since: number): void {
    for (const node of this.interest.forgetSilent(since)) {
      this.#outboxes.get(node)?.clear()
      this.#outboxes.delete(node)
    }
  }

  #tellProgress(id: ConversationId, { type: _, ...told }: Extract<Live, { type: "tool_progress" }>): void {
    if (this.#options.carriesWords) this.sayAll(this.interest.ofConversation(id), { type: "progress", id, ...told })
  }

  #tellText(id: ConversationId, live: Growing, nodes: ReadonlySet<string>): void {
    if (!this.#options.carriesWords) return
    const { position, offset, text } = live
    if (live.type === "reasoning_delta") {
      const word = { type: "thought", id, position, offset, text, ms: live.ms } as const
      for (const node of nodes) this.#outbox(node).addThought(word)
      return
    }
    for (const node of nodes) this.#outbox(node).addText({ type: "delta", id, position, offset, text })
  }

  /** False where it was only said that there are some. */
  #tellRows(id: ConversationId, { user, events }: RowsOf, nodes: ReadonlySet<string>): boolean {
    const rows = this.#options.carriesWords && rowsLength(events) <= MAX_WORD ? toRows(id, user, events) : undefined
    const carried = rows !== undefined && rows.length <= MAX_WORD // those that are longer are read where they are watched
    for (const node of nodes) this.#outbox(node).dropText(id)
    const position = events.at(-1)?.position ?? 0
    const word = carried ? rows : JSON.stringify({ type: "written", id, position } satisfies NodeWord)
    for (const node of nodes) this.#outbox(node).add(word)
    return carried
  }

  #outbox(to: Addressee): Outbox {
    const outbox = this.#outboxes.get(to) ?? new Outbox(this.#wire, to, this.#options.clock)
    this.#outboxes.set(to, outbox)
    return outbox
  }
}

const toRows = (id: ConversationId, user: UserId, events: RowsOf["events"]): string =>
  JSON.stringify({ type: "rows", id, user, events: [...events] } satisfies NodeWord)

type Growing = Extract<Live, { type: "text_delta" | "reasoning_delta" }>
type RowsOf = { readonly user: UserId } & Pick<Extract<Live, { type: "events" }>, "events">

/** A node that has just started, or has just died, is not heard for a moment, and nobody has to do anything about it. */
const PATIENCE_MS = 15_000

const PROBLEM =
  "these nodes are alive but cannot be reached through NATS, so their events arrive up to two seconds later. " +
  "their NATS_URL or PAWL_CLUSTER may differ. `pawl doctor` shows details"

/** Which of the nodes that are alive are not heard, though NATS is there: they have another one, another name, or none. */
export class UnheardNodes {
  readonly #log: Log
  readonly #since = new Map<string, number>()
  #names: readonly string[] = []

  constructor(log: Log) {
    this.#log = log
  }

  /** Some are, and have been for a while. */
  get any(): boolean {
    return this.#names.length > 0
  }

  /** Those that are not heard now. Says in the log when some begin to be missed, and when all are heard again. */
  look(unheard: readonly string[], now: number): void {
    for (const node of this.#since.keys()) if (!unheard.includes(node)) this.#since.delete(node)
    for (const node of unheard) if (!this.#since.has(node)) this.#since.set(node, now)
    const names = unheard.filter((node) => now - (this.#since.get(node) ?? now) >= PATIENCE_MS)
    const before = this.#names
    this.#names = names
    if (names.some((node) => !before.includes(node))) this.#log.warn("bus_partial", { nodes: names, problem: PROBLEM })
    else if (before.length > 0 && names.length === 0) this.#log.info("bus_complete", {})
  }
}
