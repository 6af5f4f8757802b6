import { monotonicOf } from "../shared/time/clock.ts"
import type { Bus, Happened, Live, LiveReply, NewsKind, Watched } from "../engine/ports.ts"
import { type Log, silentLog } from "../shared/log.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import { InProcessBus } from "./in-process.ts"
import { NodeVoice, UnheardNodes, type VoiceOptions } from "./node-connection.ts"
import { type Addressee, EVERYBODY, type NodeWord, readLetter, type Wire, type WordOf, writeLetter } from "./wire.ts"
import { OwnWatches, portionsOf } from "./interest.ts"

/** How often a process says that it is there. */
const BEAT_MS = 2000
/** One that has not been heard for so long is gone. */
const SILENT_MS = 5 * BEAT_MS

export interface ClusterOptions extends VoiceOptions {
  /** The others that are known to be there: one of them may have no wire, and be heard of in the record alone. */
  others?(): Iterable<string>
  readonly log?: Log
}

/**
 * The bus of a process among others. Each says what is watched there; whoever writes says what happens to those, and to
 * nobody else. All of it is only sooner than the record, which is looked at now and then, and whenever something may have
 * gone unheard.
 */
export class ClusterBus implements Bus, AsyncDisposable {
  readonly #here = new InProcessBus()
  readonly #wire: Wire
  readonly #options: ClusterOptions
  readonly #voice: NodeVoice
  readonly #watches: OwnWatches
  readonly #unheard: UnheardNodes
  readonly #revoked = new Set<() => void>()
  readonly #doubts = new Set<(about?: Watched) => void>()
  /** Those that were asked to write to this process alone, since the last beat. */
  readonly #asked = new Set<string>()
  #stopBeating: () => void = () => {}

  constructor(wire: Wire, options: ClusterOptions) {
    this.#wire = wire
    this.#options = options
    this.#voice = new NodeVoice(wire, options)
    this.#unheard = new UnheardNodes(options.log ?? silentLog)
    this.#watches = new OwnWatches({
      clock: options.clock,
      say: (word) => this.#voice.say(EVERYBODY, word),
      settled: (fresh) => wire.up && this.#doubt(fresh),
    })
    wire.listen({
      heard: (text) => this.#hear(text),
      unmet: (node) => this.#meet(node),
      changed: () => this.#changed(),
    })
    if (wire.up) this.#changed()
    this.#beat()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopBeating()
    this.#watches.close()
    this.#voice.forgetEverybody()
    await this.#wire[Symbol.asyncDispose]()
  }

  publish(id: ConversationId, live: Live): void {
    this.#here.publish(id, live)
    this.#voice.tell(id, live)
  }

  subscribe(id: ConversationId, listener: (live: Live) => void): () => void {
    const [leave, unsubscribe] = [this.#watches.conversation(id), this.#here.subscribe(id, listener)]
    return () => {
      leave()
      unsubscribe()
      if (!this.#watches.isWatched(id) && !this.#voice.isWriting(id)) this.#here.forgetReply(id)
    }
  }

  subscribeUser(user: UserId, listener: (id: ConversationId, happened: readonly Happened[]) => void): () => void {
    return both(this.#watches.person(user), this.#here.subscribeUser(user, listener))
  }

  subscribeNews(user: UserId, listener: (kind: NewsKind) => void): () => void {
    return both(this.#watches.person(user), this.#here.subscribeNews(user, listener))
  }

  publishNews(user: UserId, kind: NewsKind): void {
    this.#here.publishNews(user, kind)
  }

  spreadNews(user: UserId, kind: NewsKind): void {
    this.#voice.sayAll(this.#voice.interest.ofPerson(user), { type: "news", user, kind })
  }

  watched(): Watched {
    return this.#here.watched()
  }

  soFar(id: ConversationId): Promise<LiveReply | undefined> {
    return this.#here.soFar(id)
  }

  wake(id: ConversationId): void {
    this.#here.wake(id)
    this.#voice.say(EVERYBODY, { type: "wake", id })
  }

  onWake(listener: (id: ConversationId, from: "here" | "elsewhere") => void): () => void {
    return this.#here.onWake(listener)
  }

  spreadRevoked(): void {
    this.#voice.say(EVERYBODY, { type: "revoked" })
  }

  onRevoked(listener: () => void): () => void {
    this.#revoked.add(listener)
    return () => this.#revoked.delete(listener)
  }

  hearsOthers(): boolean {
    return this.#wire.up && this.#unheardNow().length === 0
  }

  /** Others are alive that have not been heard for a while, though the wire is there. */
  get isPartial(): boolean {
    return this.#wire.up && this.#unheard.any
  }

  #unheardNow(): string[] {
    return [...(this.#options.others?.() ?? [])].filter((node) => !this.#voice.interest.knows(node))
  }

  /** How long a word to each of the others takes, there and back. */
  lagsMs(): Map<string, number> {
    return this.#voice.interest.lagsMs(monotonicOf(this.#options.clock))
  }

  onDoubt(listener: (about?: Watched) => void): () => void {
    this.#doubts.add(listener)
    return () => this.#doubts.delete(listener)
  }

  #hear(text: string): void {
    const letter = readLetter(text)
    if (!letter || letter.from === this.#wire.self) return
    const { interest } = this.#voice
    // One that has asked for what is watched here is known from now on, and has not said what is watched there.
    if (!interest.knows(letter.from) && letter.words.some(({ type }) => type === "hello"))
      this.#voice.say(letter.from, { type: "hello" })
    interest.heard(letter.from, monotonicOf(this.#options.clock))
    for (const word of letter.words) this.#take(letter.from, word)
  }

  /** Asks a process for a message to this one alone, once between two beats: what was sent to all may be a recorded one. */
  #meet(node: string): void {
    if (this.#asked.has(node)) return
    this.#asked.add(node)
    this.#wire.send(node, writeLetter(this.#wire.self, [JSON.stringify({ type: "hello" } satisfies NodeWord)]))
  }

  #take(from: string, word: NodeWord): void {
    const [here, voice] = [this.#here, this.#voice]
    switch (word.type) {
      case "hello":
        return this.#sayWatches(from)
      case "watch":
        return this.#heardWatch(from, word)
      case "leave":
        return voice.interest.remove(from, word)
      case "beat":
        return this.#heardBeat(from, word)
      case "echo":
        return voice.interest.answered(from, word.at, monotonicOf(this.#options.clock))
      case "delta":
        return this.#heardText(from, word)
      case "thought":
        return this.#heardThought(from, word)
      case "progress": {
        const { type: _, id, ...told } = word
        return here.publish(id, { type: "tool_progress", ...told })
      }
      case "again":
        return voice.tellReply(from, word.id, here.openReply(word.id))
      case "rows":
        return here.publish(word.id, { type: "events", user: word.user, events: word.events })
      case "taken_up":
        return this.#doubt({ conversations: [word.id], people: [] })
      case "written":
        return here.publish(word.id, { type: "recorded", position: word.position, atWork: true })
      case "rest":
        return here.publish(word.id, { type: "rest" })
      case "gone":
        return here.publish(word.id, { type: "gone", user: word.user })
      case "happened":
        return here.publishToUser(
          word.user,
          word.id,
          word.types.map((type) => ({ type })),
        )
      case "news":
        return here.publishNews(word.user, word.kind)
      case "wake":
        return here.wake(word.id, "elsewhere")
      case "revoked":
        for (const hear of this.#revoked) hear()
    }
  }

  #heardWatch(from: string, word: WordOf<"watch">): void {
    const { interest } = this.#voice
    const fresh = word.whole ? interest.replace(from, word) : interest.add(from, word)
    for (const id of fresh) this.#voice.tellReply(from, id, this.#here.openReply(id))
  }

  #heardBeat(from: string, { at, ...counts }: WordOf<"beat">): void {
    if (!this.#voice.interest.counts(from, counts)) this.#voice.say(from, { type: "hello" })
    if (at !== undefined) this.#voice.say(from, { type: "echo", at })
  }

  /** Only what follows what was heard is shown. Where something is missing it is asked for. */
  #heardText(from: string, { id, position, offset, text }: WordOf<"delta">): void {
    if (!this.#watches.told.conversations.has(id)) return // whoever watched has left: what was heard would be kept for ever
    const open = this.#here.openReply(id)
    const start = offset - text.length
    const known = open?.position === position ? open.length : 0
    if (start > known) return this.#voice.say(from, { type: "again", id })
    if (start > 0 && offset <= known) return // heard before
    const rest = start === 0 ? text : text.slice(known - start)
    this.#here.publish(id, { type: "text_delta", position, offset, text: rest })
  }

  #heardThought(from: string, { id, position, offset, text, ms }: WordOf<"thought">): void {
    if (!this.#watches.told.conversations.has(id)) return
    const open = this.#here.openReply(id)
    const start = offset - text.length
    const known = open?.position === position ? (open.thought?.text.length ?? 0) : 0
    if (start > known) return this.#voice.say(from, { type: "again", id })
    if (offset <= known) return // heard before, or said again from its beginning for the sake of the words
    this.#here.publish(id, { type: "reasoning_delta", position, offset, text: text.slice(known - start), ms })
  }

  #sayWatches(to: Addressee): void {
    const { conversations, people } = this.#watches.told
    const portions = portionsOf({ conversations: [...conversations], people: [...people] })
    this.#voice.say(to, { type: "watch", whole: true, conversations: [], people: [], ...portions[0] })
    for (const portion of portions.slice(1)) this.#voice.say(to, { type: "watch", ...portion })
  }

  /** The wire came, went, or has lost something. Who was heard before may be gone, and has not heard us. */
  #changed(): void {
    this.#voice.forgetEverybody()
    if (this.#wire.up) {
      this.#sayWatches(EVERYBODY)
      this.#voice.say(EVERYBODY, { type: "hello" })
      this.#sayBeat()
    }
    this.#doubt()
  }

  #beat(): void {
    const { clock } = this.#options
    this.#asked.clear()
    this.#sayBeat()
    const now = monotonicOf(clock)
    this.#voice.forgetSilent(now - SILENT_MS)
    // While the wire is away nobody is heard, and that has been said.
    if (this.#wire.up) this.#unheard.look(this.#unheardNow(), now)
    this.#stopBeating = clock.alarm(BEAT_MS, () => this.#beat(), "background")
  }

  #sayBeat(): void {
    const { conversations, people } = this.#watches.told
    const at = monotonicOf(this.#options.clock)
    this.#voice.interest.asked(at)
    this.#voice.say(EVERYBODY, { type: "beat", conversations: conversations.size, people: people.size, at })
  }

  #doubt(about?: Watched): void {
    for (const look of this.#doubts) look(about)
  }
}

const both = (first: () => void, second: () => void) => () => {
  first()
  second()
}
