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
  questionsSince,
  withoutQuestion,
  isAbout,
  type QuestionText,
  toQuestionText,
  verdictOf,
} from "./open-questions.ts"
import { toClientContext } from "../conversation/client-context.ts"
import { requireScopeOf, senderFields } from "../auth/caller.ts"
import { ChatFrames, type SocketPorts, ChatConversation } from "./chat-conversation.ts"
import type { DeviceConnection } from "./device-connection.ts"
import type { Caller } from "../auth/credentials.ts"
import { requireDeviceOnline } from "../conversation/decide.ts"
import type { Subscription } from "../stream/subscription.ts"
import { onWithdrawn } from "../stream/send-message.ts"
import type { JsonSocket } from "./json-socket.ts"
import { Semaphore } from "../../shared/concurrency/locks.ts"

/** Most answers in progress over one socket. */
const MAX = 16

interface Surroundings {
  readonly socket: JsonSocket
  readonly device: DeviceConnection
  /** Counts a request against the person's limit. */
  charge(): void
}

interface Reply {
  readonly conversation: ConversationView
  readonly verdict: "yes" | "no"
  /** The questions that were open when the message arrived. */
  readonly openQuestions: OpenQuestions
  /** The message names its conversation. */
  readonly isNamed: boolean
}

const NOTHING: ChatContext = { brought: [] }

/**
 * The messages of a socket and their answers. Frames of an answer do not name it, so answers are sent one after another; a
 * paused answer lets the next one start. Each ends with one `final`.
 */
export class SocketChat {
  readonly #ports: SocketPorts
  readonly #caller: Caller
  readonly #socket: JsonSocket
  readonly #conversation: ChatConversation
  readonly #turns = new SendingTurns()
  readonly #answers = new Set<OpenAnswer>()
  /** The last answer of each conversation: the frames of its next one follow. */
  readonly #last = new Map<ConversationId, Promise<void>>()
  readonly #charge: () => void
  #openQuestions: OpenQuestions = new Map()

  constructor(ports: SocketPorts, caller: Caller, { socket, device, charge }: Surroundings) {
    this.#ports = ports
    this.#caller = caller
    this.#socket = socket
    this.#conversation = new ChatConversation(ports, caller, device)
    this.#charge = charge
  }

  get questions(): OpenQuestions {
    return this.#openQuestions
  }

  /** Resolves when the message is durable. The run outlives the socket; a client that reconnects attaches to it. */
  async start({ message, context, files }: ClientFrameOf<"chat_request">, openQuestions: OpenQuestions): Promise<void> {
    const chosen = context ?? NOTHING
    try {
      this.#charge()
      requireScopeOf(this.#caller, "chat")
      const conversation = await this.#conversation.find(chosen)
      const verdict = conversation && verdictOf(message)
      const isNamed = Boolean(chosen.conversationId)
      if (verdict && (await this.#isDecided({ conversation, verdict, openQuestions, isNamed }))) return
      const sent = await this.#send({ text: message, files }, chosen, conversation)
      this.#openQuestions = questionsSince(this.#openQuestions, openQuestions) // the message was no answer to what was asked before
      if (sent) await this.#explainDoubt(sent)
    } catch (error) {
      if (!(error instanceof AppError)) this.#ports.log.error("frame_failed", { error })
      this.refuse(error, chosen.conversationId ?? undefined)
    }
  }

  /** Reports an error as an answer. In turn: in the middle of another answer it would look like that one's end. */
  refuse(error: unknown, about?: ConversationId): void {
    const report = () => {
      this.#socket.fail(error, about)
      const where = about === undefined ? {} : { conversationId: about }
      this.#socket.send({ type: "final", response: `Nothing was done: ${sentenceOf(error)}`, ...where })
    }
    if (this.#turns.isFull) return report() // send at once: the client ignores its answers anyway
    void this.#turns.enqueue(report)
  }

  close(): void {
    for (const { source } of this.#answers) source.close()
    this.#answers.clear()
  }

  async #send(
    { text, files }: { readonly text: string; readonly files: readonly FileId[] | null | undefined },
    context: ChatContext,
    conversation: ConversationView | undefined,
  ): Promise<OpenAnswer | undefined> {
    this.#requireRoom()
    const brought = toClientContext(context.brought)
    const input: MessageInput = {
      type: "message",
      id: newId("msg", this.#caller.person.id, this.#ports.clock.now()),
      text,
      when: "queue",
      ...senderFields(this.#caller),
      ...(context.timeZone ? { timeZone: context.timeZone } : {}),
      ...(brought.length > 0 ? { brought } : {}),
    }
    const { id, source, waits } = await this.#conversation.send({ input, files }, context, conversation)
    const answer = this.#open(id, source, new ChatFrames({ conversationId: id, message: input.id, waits }))
    if (!answer) return undefined
    const pumped = this.#pump(answer, this.#last.get(id))
    if (waits) this.#endIfWithdrawn(answer, input.id, pumped)
    this.#last.set(id, pumped)
    void pumped.then(() => this.#last.get(id) === pumped && this.#last.delete(id))
    return waits ? answer : undefined
  }

  /** Explains why a message waits if a write is in doubt, which a person must resolve first. */
  async #explainDoubt(answer: OpenAnswer): Promise<void> {
    const isDoubted = (await this.#ports.proposals.open(answer.id)).some(({ status }) => status === "in_doubt")
    const question = isDoubted ? await this.#questionOf(answer) : undefined
    if (!question || answer.frames.state !== "waiting") return
    void this.#turns.enqueue(async () => {
      if (answer.frames.state === "waiting") await this.#socket.sendAll(answer.frames.ask(question.words))
    })
  }

  /**
   * Accepts a yes or no for the open proposals, if it is unambiguous: all of them were shown over this socket before the
   * message, and no message came in between. Otherwise they are shown and asked again. False if nothing is open: then it is
   * an ordinary message.
   */
  async #isDecided({ conversation, verdict, openQuestions, isNamed }: Reply): Promise<boolean> {
    const { id } = conversation
    const user = this.#caller.person.id
    const put = openQuestions.get(id)
    // Sent twice, or after another client's decision: the question is already settled. As an ordinary message it would mean
    // something else.
    if (put && put !== this.#openQuestions.get(id)) throw await this.#alreadyDecided(put)
    const waiting = (await this.#ports.proposals.open(id)).filter(({ status }) => status === "pending")
    if (waiting.length === 0) return false
    requireScopeOf(this.#caller, "approve")
    await this.#conversation.continueWith(id)
    const proposalIds = waiting.map((proposal) => proposal.id)
    const isMeant = put !== undefined && this.#answers.has(put.answer) && (isNamed || openQuestions.size === 1)
    if (!isMeant || !isAbout(put, proposalIds)) return this.#askAgain(conversation)
    this.#openQuestions = withoutQuestion(this.#openQuestions, id) // a second yes must not answer the next question
    put.answer.frames.owesFinal = true
    try {
      if (verdict === "yes") for (const proposal of waiting) await requireDeviceOnline(this.#ports, user, proposal)
      const who = { by: user, credential: this.#caller.credential.id }
      await decideAll(this.#ports.runtime, id, { decision: verdict, proposalIds, ...who })
    } catch (error) {
      put.answer.frames.owesFinal = false // the error contains this one's final
      if (!this.#openQuestions.has(id)) this.#openQuestions = new Map(this.#openQuestions).set(id, put)
      throw error
    }
    return true
  }

  /**
   * Shows the open proposals to a client that has not seen all of them, and follows their run. False if nothing is open any
   * more.
   */
  async #askAgain({ id, position }: ConversationView): Promise<boolean> {
    const question = await this.#questionOf({ id })
    if (!question) return false
    const known = this.#answerOf(id)
    if (!known) this.#requireRoom()
    if (this.#turns.isFull) this.#requireRoom(MAX)
    const source = known ? known.source : await this.#conversation.watch(id, position)
    const answer = known ?? this.#open(id, source, new ChatFrames({ conversationId: id }))
    if (!answer) return true
    const turn = this.#turns.enqueue(async () => {
      const now = await this.#questionOf({ id })
      if (now && (await this.#socket.sendAll(answer.frames.ask(now.words)))) this.#remember(answer, now)
      if (!now) throw await this.#alreadyDecided({ ...question, answer }) // another client decided first
    })
    void turn
      .catch((error: unknown) => {
        if (!known) this.#answers.delete(answer)
        this.refuse(error, id)
      })
      .then(() => (known ? undefined : this.#pump(answer, undefined)))
    return true
  }

  async #alreadyDecided({ ids: [id], answer }: OpenQuestion): Promise<AppError> {
    const proposal = id && (await this.#ports.proposals.find(this.#caller.person.id, id))
    return failure("proposal_decided", { id: id ?? answer.id, status: proposal ? proposal.status : "gone" })
  }

  /** The answer over which this conversation's events are sent. */
  #answerOf(id: ConversationId): OpenAnswer | undefined {
    return [...this.#answers].findLast((answer) => answer.id === id && answer.frames.state !== "waiting")
  }

  async #questionOf({ id, frames }: Pick<OpenAnswer, "id"> & Partial<OpenAnswer>): Promise<QuestionText | undefined> {
    const { address, proposals } = this.#ports
    const [mayDecide, isSlow] = [this.#caller.scopes.has("approve"), frames?.state === "waiting"]
    return toQuestionText(await proposals.open(id), { mayDecide, isSlow, page: address.publicUrl })
  }

  /** After the question was sent: an unseen question cannot be answered. */
  #remember(answer: OpenAnswer, question: QuestionText): void {
    const { id } = answer
    const entry = { ...question, answer }
    this.#openQuestions =
      question.ids.length > 0 ? new Map(this.#openQuestions).set(id, entry) : withoutQuestion(this.#openQuestions, id)
  }

  #requireRoom(open = this.#answers.size): void {
    if (open >= MAX) throw failure("too_many", { what: "answers", most: MAX })
  }

  /** Undefined if the socket is closed. */
  #open(id: ConversationId, source: Subscription, frames: ChatFrames): OpenAnswer | undefined {
    const answer: OpenAnswer = { id, source, frames }
    if (this.#socket.open) this.#answers.add(answer)
    else source.close()
    return this.#socket.open ? answer : undefined
  }

  /** A message that is withdrawn before its run has no run that could end. */
  #endIfWithdrawn(answer: OpenAnswer, message: MessageId, pumped: Promise<void>): void {
    const leave = onWithdrawn(
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
    void pumped.then(leave)
  }

  async #pump(answer: OpenAnswer, before: Promise<void> | undefined): Promise<void> {
    const { source, frames: converter } = answer
    let leave: (() => void) | undefined
    try {
      for (let frames = await source.next(); frames && this.#answers.has(answer); frames = await source.next()) {
        const news: ServerFrame[] = frames.flatMap((frame) => converter.toFrames(frame))
        // The current state, which may be newer than these frames: do not ask about what is already decided.
        const question = this.#mustAsk(answer) ? await this.#questionOf(answer) : undefined
        if (question) news.push(...converter.ask(question.words))
        if (news.length > 0) {
          await before
          leave ??= await this.#turns.take()
          if (!(await this.#socket.sendAll(news))) return
        }
        if (question) this.#remember(answer, question)
        if (converter.state === "over") return
        if (question || converter.state === "paused") leave = void leave?.()
      }
      if (this.#answers.has(answer)) this.#fail(answer.id, failure("not_found"))
    } catch (error) {
      this.#ports.log.warn("chat_failed", { error })
      this.#fail(answer.id, error)
    } finally {
      leave?.()
      this.#answers.delete(answer)
      source.close()
    }
  }

  /** A message that waits for the paused run need not repeat the question, if that run's answer sends it. */
  #mustAsk({ id, frames }: OpenAnswer): boolean {
    return frames.takeQuestion() && (frames.state !== "waiting" || this.#answerOf(id) === undefined)
  }

  /** The run may continue, but its events can no longer be sent here. */
  #fail(conversationId: ConversationId, error: unknown): void {
    this.#socket.fail(error)
    this.#socket.send({ type: "final", response: sentenceOf(error), conversationId })
  }
}

const sentenceOf = (error: unknown): string => (error instanceof AppError ? error : failure("internal")).message

/** Most short messages that wait for their turn. */
const MAX_WAITING = 16

/** Lets one answer send at a time, in order, because frames do not name their answer. */
class SendingTurns {
  readonly #turns = new Semaphore(1)
  #waiting = 0

  /** Whether the queue is full; a longer one would grow without bound. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING
  }

  /** Resolves with the function that ends the turn. */
  take(): Promise<() => void> {
    return this.#turns.take()
  }

  /**
   * Queues a short message. Do not await it while handling frames: the next frame may be the one that stops the current
   * answer.
   */
  async enqueue(send: () => Promise<void> | void): Promise<void> {
    this.#waiting++
    await this.#turns.run(async () => {
      this.#waiting--
      await send()
    })
  }
}
