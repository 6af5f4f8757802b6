import { decideAll } from "../../engine/runtime/runtime.ts"
import type { MessageInput } from "../../engine/input.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { AppError, failure } from "../../protocol/errors.ts"
import { type ConversationId, type FileId, type MessageId, newId } from "../../protocol/ids.ts"
import type { ChatContext } from "../../protocol/chat-context.ts"
import type { ClientFrameOf, ServerFrame } from "../../protocol/socket.ts"
import {
  type OpenAnswer,
  type OpenQuestions,
  type OpenQuestion,
  askedSince,
  withoutQuestion,
  isAbout,
  type QuestionText,
  toQuestionText,
  verdictOf,
} from "./open-questions.ts"
import { toClientContext } from "../conversation/client-context.ts"
import { demandOf, spokenBy } from "../auth/caller.ts"
import { ChatFrames, type SocketPorts, ChatConversation } from "./chat-conversation.ts"
import type { DeviceConnection } from "./device-connection.ts"
import type { Caller } from "../auth/credentials.ts"
import { refuseOffline } from "../conversation/decide.ts"
import type { Subscription } from "../stream/subscription.ts"
import { whenWithdrawn } from "../stream/send-message.ts"
import type { JsonSocket } from "./json-socket.ts"
import { Semaphore } from "../../shared/concurrency/locks.ts"

/** Answers that may be on their way over one socket. */
const MAX = 16

interface Surroundings {
  readonly socket: JsonSocket
  readonly device: DeviceConnection
  /** Counts a request against what the person may ask. */
  charge(): void
}

interface Reply {
  readonly conversation: ConversationView
  readonly verdict: "yes" | "no"
  /** What had been asked when the words came. */
  readonly asked: OpenQuestions
  /** The words name the conversation that they answer. */
  readonly isNamed: boolean
}

const NOTHING: ChatContext = { brought: [] }

/**
 * What was said over a socket, and what is answered. The frames of an answer do not say whose they are, so one speaks at
 * a time; one that waits for a person lets the next speak. Each ends with one `final`, however it ends.
 */
export class Chats {
  readonly #ports: SocketPorts
  readonly #caller: Caller
  readonly #socket: JsonSocket
  readonly #speaking: ChatConversation
  readonly #turns = new SpeakingTurns()
  readonly #answers = new Set<OpenAnswer>()
  /** The last answer from each conversation: its runs follow one another, and so do their frames. */
  readonly #last = new Map<ConversationId, Promise<void>>()
  readonly #charge: () => void
  #asked: OpenQuestions = new Map()

  constructor(ports: SocketPorts, caller: Caller, { socket, device, charge }: Surroundings) {
    this.#ports = ports
    this.#caller = caller
    this.#socket = socket
    this.#speaking = new ChatConversation(ports, caller, device)
    this.#charge = charge
  }

  get asked(): OpenQuestions {
    return this.#asked
  }

  /** Resolves when the words are durable. The run outlives the socket; whoever comes again attaches to it. */
  async start({ message, context, files }: ClientFrameOf<"chat_request">, asked: OpenQuestions): Promise<void> {
    const given = context ?? NOTHING
    try {
      this.#charge()
      demandOf(this.#caller, "chat")
      const conversation = await this.#speaking.find(given)
      const verdict = conversation && verdictOf(message)
      const isNamed = Boolean(given.conversationId)
      if (verdict && (await this.#isDecided({ conversation, verdict, asked, isNamed }))) return
      const said = await this.#say({ text: message, files }, given, conversation)
      this.#asked = askedSince(this.#asked, asked) // something else was said instead of an answer
      if (said) await this.#tellDoubt(said)
    } catch (error) {
      if (!(error instanceof AppError)) this.#ports.log.error("frame_failed", { error })
      this.refuse(error, given.conversationId ?? undefined)
    }
  }

  /** Answers what could not even begin. In its turn: in the middle of another answer it would pass for that one's end. */
  refuse(error: unknown, about?: ConversationId): void {
    const tell = () => {
      this.#socket.fail(error, about)
      const where = about === undefined ? {} : { conversationId: about }
      this.#socket.send({ type: "final", response: `Nothing was done: ${sentenceOf(error)}`, ...where })
    }
    if (this.#turns.isFull) return tell() // whoever has so many refused does not read them one by one
    void this.#turns.tell(tell)
  }

  close(): void {
    for (const { source } of this.#answers) source.close()
    this.#answers.clear()
  }

  async #say(
    { text, files }: { readonly text: string; readonly files: readonly FileId[] | null | undefined },
    context: ChatContext,
    conversation: ConversationView | undefined,
  ): Promise<OpenAnswer | undefined> {
    this.#refuseMore()
    const brought = toClientContext(context.brought)
    const input: MessageInput = {
      type: "message",
      id: newId("msg", this.#caller.person.id, this.#ports.clock.now()),
      text,
      when: "queue",
      ...spokenBy(this.#caller),
      ...(context.timeZone ? { timeZone: context.timeZone } : {}),
      ...(brought.length > 0 ? { brought } : {}),
    }
    const { id, source, waits } = await this.#speaking.say({ input, files }, context, conversation)
    const answer = this.#open(id, source, new ChatFrames({ conversationId: id, message: input.id, waits }))
    if (!answer) return undefined
    const told = this.#tell(answer, this.#last.get(id))
    if (waits) this.#endIfWithdrawn(answer, input.id, told)
    this.#last.set(id, told)
    void told.then(() => this.#last.get(id) === told && this.#last.delete(id))
    return waits ? answer : undefined
  }

  /** Words behind something that is in doubt wait until a person has settled it: whoever waits for their `final` hears why. */
  async #tellDoubt(answer: OpenAnswer): Promise<void> {
    const isDoubted = (await this.#ports.proposals.open(answer.id)).some(({ status }) => status === "in_doubt")
    const question = isDoubted ? await this.#questionOf(answer) : undefined
    if (!question || answer.frames.state !== "waiting") return
    void this.#turns.tell(async () => {
      if (answer.frames.state === "waiting") await this.#socket.sendAll(answer.frames.ask(question.words))
    })
  }

  /**
   * Takes a yes or a no for what waits, where it can mean nothing else: all that waits was shown over this socket before
   * the words came, and nothing was said in between. Otherwise what waits is shown, and asked once more. False where
   * nothing waits: then they are words like any other.
   */
  async #isDecided({ conversation, verdict, asked, isNamed }: Reply): Promise<boolean> {
    const { id } = conversation
    const user = this.#caller.person.id
    const put = asked.get(id)
    // Said twice, or overtaken: what it answers has been answered. Among the words of the next run it would mean something else.
    if (put && put !== this.#asked.get(id)) throw await this.#decidedBefore(put)
    const waiting = (await this.#ports.proposals.open(id)).filter(({ status }) => status === "pending")
    if (waiting.length === 0) return false
    demandOf(this.#caller, "approve")
    await this.#speaking.goOnWith(id)
    const proposalIds = waiting.map((proposal) => proposal.id)
    const isMeant = put !== undefined && this.#answers.has(put.answer) && (isNamed || asked.size === 1)
    if (!isMeant || !isAbout(put, proposalIds)) return this.#askAgain(conversation)
    this.#asked = withoutQuestion(this.#asked, id) // the same yes a second time is no answer to what is asked next
    put.answer.frames.owesFinal = true
    try {
      if (verdict === "yes") for (const proposal of waiting) await refuseOffline(this.#ports, user, proposal)
      const who = { by: user, credential: this.#caller.credential.id }
      await decideAll(this.#ports.runtime, id, { decision: verdict, proposalIds, ...who })
    } catch (error) {
      put.answer.frames.owesFinal = false // this one's is told with the error
      if (!this.#asked.has(id)) this.#asked = new Map(this.#asked).set(id, put)
      throw error
    }
    return true
  }

  /** Shows what waits to whoever has answered without having seen all of it, and tells what follows. False where nothing does any more. */
  async #askAgain({ id, position }: ConversationView): Promise<boolean> {
    const question = await this.#questionOf({ id })
    if (!question) return false
    const known = this.#heardOf(id)
    if (!known) this.#refuseMore()
    if (this.#turns.isFull) this.#refuseMore(MAX)
    const source = known ? known.source : await this.#speaking.watch(id, position)
    const answer = known ?? this.#open(id, source, new ChatFrames({ conversationId: id }))
    if (!answer) return true
    const asked = this.#turns.tell(async () => {
      const now = await this.#questionOf({ id })
      if (now && (await this.#socket.sendAll(answer.frames.ask(now.words)))) this.#remember(answer, now)
      if (!now) throw await this.#decidedBefore({ ...question, answer }) // by whoever was faster than its turn
    })
    void asked
      .catch((error: unknown) => {
        if (!known) this.#answers.delete(answer)
        this.refuse(error, id)
      })
      .then(() => (known ? undefined : this.#tell(answer, undefined)))
    return true
  }

  async #decidedBefore({ ids: [id], answer }: OpenQuestion): Promise<AppError> {
    const proposal = id && (await this.#ports.proposals.find(this.#caller.person.id, id))
    return failure("proposal_decided", { id: id ?? answer.id, status: proposal ? proposal.status : "gone" })
  }

  /** The answer over which what happens in a conversation is told here. */
  #heardOf(id: ConversationId): OpenAnswer | undefined {
    return [...this.#answers].findLast((answer) => answer.id === id && answer.frames.state !== "waiting")
  }

  async #questionOf({ id, frames }: Pick<OpenAnswer, "id"> & Partial<OpenAnswer>): Promise<QuestionText | undefined> {
    const { address, proposals } = this.#ports
    const [mayDecide, isBehind] = [this.#caller.scopes.has("approve"), frames?.state === "waiting"]
    return toQuestionText(await proposals.open(id), { mayDecide, isBehind, page: address.publicUrl })
  }

  /** After it was sent: what nobody can have seen cannot be agreed to. */
  #remember(answer: OpenAnswer, question: QuestionText): void {
    const { id } = answer
    const asked = { ...question, answer }
    this.#asked = question.ids.length > 0 ? new Map(this.#asked).set(id, asked) : withoutQuestion(this.#asked, id)
  }

  #refuseMore(open = this.#answers.size): void {
    if (open >= MAX) throw failure("too_many", { what: "answers", most: MAX })
  }

  /** Undefined where nobody is there any more to be answered. */
  #open(id: ConversationId, source: Subscription, frames: ChatFrames): OpenAnswer | undefined {
    const answer: OpenAnswer = { id, source, frames }
    if (this.#socket.open) this.#answers.add(answer)
    else source.close()
    return this.#socket.open ? answer : undefined
  }

  /** One that is taken back before its run began has no run that could end. */
  #endIfWithdrawn(answer: OpenAnswer, message: MessageId, told: Promise<void>): void {
    const leave = whenWithdrawn(
      this.#ports,
      { id: answer.id, message },
      {
        begun: () => answer.frames.state !== "waiting" || !this.#answers.has(answer),
        withdraw: () => {
          if (!this.#answers.delete(answer)) return
          answer.source.close()
          this.refuse(failure("message_withdrawn"), answer.id)
        },
      },
    )
    void told.then(leave)
  }

  async #tell(answer: OpenAnswer, before: Promise<void> | undefined): Promise<void> {
    const { source, frames: told } = answer
    let leave: (() => void) | undefined
    try {
      for (let frames = await source.next(); frames && this.#answers.has(answer); frames = await source.next()) {
        const news: ServerFrame[] = frames.flatMap((frame) => told.toFrames(frame))
        // As it stands now, which may be later than these frames: nobody is asked about what is decided already.
        const question = this.#mustAsk(answer) ? await this.#questionOf(answer) : undefined
        if (question) news.push(...told.ask(question.words))
        if (news.length > 0) {
          await before
          leave ??= await this.#turns.take()
          if (!(await this.#socket.sendAll(news))) return
        }
        if (question) this.#remember(answer, question)
        if (told.state === "over") return
        if (question || told.state === "paused") leave = void leave?.()
      }
      if (this.#answers.has(answer)) this.#breakOff(answer.id, failure("not_found"))
    } catch (error) {
      this.#ports.log.warn("chat_failed", { error })
      this.#breakOff(answer.id, error)
    } finally {
      leave?.()
      this.#answers.delete(answer)
      source.close()
    }
  }

  /** Who only waits behind the run that asks has been told by that one's answer, where it is told here. */
  #mustAsk({ id, frames }: OpenAnswer): boolean {
    return frames.takeQuestion() && (frames.state !== "waiting" || this.#heardOf(id) === undefined)
  }

  /** The run may go on; only nobody can tell of it here any more. */
  #breakOff(conversationId: ConversationId, error: unknown): void {
    this.#socket.fail(error)
    this.#socket.send({ type: "final", response: sentenceOf(error), conversationId })
  }
}

const sentenceOf = (error: unknown): string => (error instanceof AppError ? error : failure("internal")).message

/** Short messages that may wait for their turn; more would fill the memory. */
const MAX_WAITING = 16

/** Who speaks over a socket: the frames of an answer do not say whose they are, so one speaks at a time, in order of asking. */
export class SpeakingTurns {
  readonly #turns = new Semaphore(1)
  #waiting = 0

  /** Whether so much waits already that whoever sends more would cost us memory without end. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING
  }

  /** Resolves when the turn has come, with the function that ends it. */
  take(): Promise<() => void> {
    return this.#turns.take()
  }

  /**
   * Says something short when its turn comes. Whoever hears frames in their order does not wait for it: the next one may be
   * the word that stops whoever is speaking.
   */
  async tell(say: () => Promise<void> | void): Promise<void> {
    this.#waiting++
    await this.#turns.run(async () => {
      this.#waiting--
      await say()
    })
  }
}
