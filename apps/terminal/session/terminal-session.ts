import { ClientError } from "../../../client/client-error.ts"
import type { Client } from "../../../client/client.ts"
import { capitalized, describeAlways } from "../../../client/format.ts"
import type { ConversationDetail } from "../../../core/protocol/answers.ts"
import { titleOf } from "../../../core/protocol/conversation/message.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import { DEFAULT_GRANT_USES, type Proposal } from "../../../core/protocol/proposals/proposal.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { changeCardText } from "../../strings/approvals.ts"
import { chatText } from "../../strings/chat.ts"
import { type DecisionClock, type TypedDecision, decisionQuestion, readDecision } from "../approvals/decision.ts"
import { ChangeCard } from "../approvals/change-card.ts"
import { waitingLines, queueLines, tailLines, queuedLine } from "../drawing/waiting-lines.ts"
import { Scrollback } from "../drawing/scrollback.ts"
import { DIM, type Line, type Room, line, span } from "../line.ts"
import { printable } from "../printable.ts"
import type { StartChoices, TerminalServer } from "../terminal-server.ts"
import { wrap } from "../wrap.ts"
import { type MessageExtras, OpenConversation } from "./open-conversation.ts"
import { retryUntilAnswered } from "./upload-files.ts"

const MODES: readonly Mode[] = ["read-only", "confirm", "auto"]
const MODE_SET = { all: changeCardText.modeAll, none: changeCardText.modeNone } as const

function describeGranted(proposal: Proposal, prefix: string | undefined): string {
  const what = prefix === undefined ? describeAlways(proposal) : changeCardText.alwaysPrefix(DEFAULT_GRANT_USES, prefix)
  return changeCardText.granted(what)
}

/**
 * Sends the person's messages and decisions, and holds what is on the screen. All knowledge of a conversation is its
 * transcript.
 */
export class TerminalSession {
  readonly scrollback = new Scrollback()
  readonly card = new ChangeCard()
  readonly server: TerminalServer
  choices: StartChoices
  /** The default model. */
  defaultModel = ""
  /** Context sizes of the models chosen here: the event of a model change has only the name. */
  readonly windows = new Map<string, number>()
  conversation: OpenConversation | undefined
  readonly #onChange: () => void
  readonly #clock: () => number
  /** The server's reports about expiry, because this machine's clock may be wrong. */
  readonly #expiry = new Map<string, "expired" | "open">()
  #firstMessages: readonly string[] = []
  #creating: Promise<OpenConversation> | undefined
  /** Counts navigations: a conversation that is read late must not replace the one opened since. */
  #navigation = 0
  #isClosed = false
  #isDisconnected = false
  columns = 80

  constructor(server: TerminalServer, choices: StartChoices, onChange: () => void, clock: () => number = Date.now) {
    this.server = server
    this.choices = choices
    this.#onChange = onChange
    this.#clock = clock
  }

  get client(): Client {
    return this.server.client
  }

  get waiting(): readonly Proposal[] {
    return this.conversation?.waiting ?? []
  }

  get queue(): OpenConversation["queue"] {
    return this.conversation?.queue ?? []
  }

  get isBusy(): boolean {
    return this.conversation?.isBusy ?? false
  }

  /** Whether the client is disconnected. */
  get isDisconnected(): boolean {
    return this.conversation ? this.conversation.line === "waiting" : this.#isDisconnected
  }

  get mode(): Mode {
    return this.conversation?.transcript.mode ?? this.choices.mode
  }

  /** Prints the items that have become final. */
  settle(columns: number): void {
    this.columns = columns
    this.card.set(this.waiting)
    this.#printFinal()
  }

  #printFinal(): void {
    if (this.conversation) this.scrollback.printFinal(this.conversation.transcript, this.columns)
  }

  print(...lines: readonly Line[]): void {
    // Prints earlier items first. The card is updated with the next frame.
    this.#printFinal()
    this.scrollback.print(lines.flatMap((each) => wrap(each, this.columns)))
    this.#onChange()
  }

  /** Prints an error. */
  printError(error: unknown): void {
    this.print([span("! ", { colour: "red" }), span(printable(explain(error)))])
  }

  /** Sends a message; the first one creates the conversation. */
  async send(text: string, when: "queue" | "steer", along?: MessageExtras): Promise<void> {
    await (this.conversation ?? (await this.#createWith(text))).send(text, when, along)
  }

  /** All messages sent before the conversation exists belong to it. */
  async #createWith(text: string): Promise<OpenConversation> {
    this.#firstMessages = [...this.#firstMessages, text]
    // A lost response leaves an empty conversation behind at worst.
    const beginning = (this.#creating ??= retryUntilAnswered(async () => {
      try {
        return await this.create(titleOf(text))
      } catch (error) {
        this.#isDisconnected = hasCode(error, "unreachable")
        this.#onChange()
        throw error
      }
    }).finally(() => {
      this.#isDisconnected = false
      this.#firstMessages = []
      // The person may have started another one in the meantime.
      if (this.#creating === beginning) this.#creating = undefined
    }))
    return beginning
  }

  async create(title?: string): Promise<OpenConversation> {
    const navigation = ++this.#navigation
    const body = newConversationBody(this.server.defaults, this.choices, title)
    const { id } = await this.client.createConversation({ body })
    return this.enter(id, navigation)
  }

  /** Opens a conversation and closes the previous one, unless the person has opened another while it was being read. */
  async enter(id: string, navigation: number = ++this.#navigation): Promise<OpenConversation> {
    const detail = await this.client.readConversation({ params: { id } })
    const told = {
      onChange: this.#onChange,
      workFolder: this.server.workFolder,
      onNotice: (words: string) => this.print(line(words, DIM)),
      onError: (error: unknown) => this.printError(error),
    }
    const conversation = new OpenConversation(this.client, detail, told)
    const isOutdated = navigation !== this.#navigation
    if (isOutdated || this.#isClosed) conversation.close()
    if (isOutdated) return conversation
    this.conversation?.close()
    const isNew = detail.messages.length === 0 && detail.proposals.length === 0
    this.scrollback.startConversation(
      isNew ? [] : [[], line(chatText.conversationTitle(printable(detail.title ?? chatText.untitled)), DIM)],
    )
    this.conversation = conversation
    this.choices = startChoicesOf(detail)
    this.server.entered(id)
    this.#onChange()
    return conversation
  }

  /** Also closes a conversation that is still being opened: its stream would keep the process alive. */
  close(): void {
    this.#isClosed = true
    this.conversation?.close()
  }

  /** Closes the conversation; the next message creates another. */
  leave(choices: Partial<StartChoices> = {}): void {
    this.#navigation++
    this.#creating = undefined
    this.choices = { ...this.choices, mode: this.mode, ...choices }
    this.conversation?.close()
    this.conversation = undefined
    this.scrollback.startConversation([])
    this.#onChange()
  }

  async cancel(): Promise<void> {
    if (this.conversation) await this.client.cancelRun({ params: { id: this.conversation.id } })
  }

  async cycleMode(): Promise<void> {
    const mode = MODES[(MODES.indexOf(this.mode) + 1) % MODES.length] as Mode
    await this.setMode(mode).catch(async (error: unknown) => {
      // An operator may forbid `auto`: then there are two modes.
      if (!hasCode(error, "mode_forbidden")) throw error
      await this.setMode("read-only")
    })
  }

  async setMode(mode: Mode): Promise<void> {
    if (this.conversation)
      await this.client.changeConversation({ params: { id: this.conversation.id }, body: { mode } })
    this.choices = { ...this.choices, mode }
    this.#onChange()
  }

  async setModel(name: string): Promise<void> {
    // Before the first message there is no conversation; new ones start with the model that was chosen last.
    if (this.conversation) await this.client.chooseModel({ params: { id: this.conversation.id }, body: { name } })
    else await this.client.chooseDefaultModel({ body: { name } })
    this.choices = { ...this.choices, model: name }
    this.#onChange()
  }

  readDecision(text: string): TypedDecision {
    return readDecision(text, this.waiting, this.#time)
  }

  /** Executes a decision. Resolves to whether the list of waiting changes will change. */
  async decide(decision: Exclude<TypedDecision, { type: "message" | "unclear" | "edit" }>): Promise<boolean> {
    if (decision.type === "resolve") {
      const { proposal, choice } = decision
      await this.client.resolveProposal({ params: { id: proposal.id }, body: { choice } })
      return true
    }
    if (decision.type === "go-on") return this.#continueReply()
    if (decision.type === "again") return this.proposeAgain(decision.proposals)
    if (decision.type === "always") {
      const { proposal, prefix } = decision
      const body = { always: prefix === undefined ? (true as const) : { prefix } }
      await this.client.commitProposal({ params: { id: proposal.id }, body })
      this.print(line(printable(describeGranted(proposal, prefix)), DIM))
      return true
    }
    const { type, proposals } = decision
    const [first] = proposals
    if (!first) return false
    const proposalIds = proposals.map(({ id }) => id)
    const params = { id: first.conversationId }
    const answer = await this.client.decideAll({ params, body: { decision: type, proposalIds } })
    if (type === "all" || type === "none") this.print(line(MODE_SET[type], DIM))
    return this.#reportExpired(answer.proposals)
  }

  /** Proposes expired changes again, one after the other because each makes the conversation busy. */
  async proposeAgain(proposals: readonly Proposal[]): Promise<boolean> {
    for (const { id } of proposals) await this.client.proposeAgain({ params: { id } })
    return true
  }

  /** Reports changes that expired before the decision, and continues the run if nothing else waits. */
  async #reportExpired(decided: readonly Proposal[]): Promise<boolean> {
    const expired = decided.filter(({ status }) => status === "expired")
    if (expired.length === 0) return true
    for (const { id } of expired) this.#expiry.set(id, "expired")
    this.print(line(changeCardText.expiredBefore(expired.map(({ summary }) => printable(summary)).join(", "))))
    const over = new Set<string>(decided.flatMap(({ id, status }) => (status === "in_doubt" ? [] : [id])))
    const isAll = this.waiting.every(({ id }) => over.has(id) || this.#expiry.get(id) === "expired")
    return isAll ? this.#continueReply() : expired.length < decided.length
  }

  /** Settles the expired changes: the model learns that they were not applied, and the run continues. */
  async #continueReply(): Promise<boolean> {
    const { conversation } = this
    if (!conversation) return false
    const params = { id: conversation.id }
    try {
      await this.client.resumeRun({ params })
      return true
    } catch (error) {
      if (!hasCode(error, "still_pending")) throw error
    }
    // Another change is open: one of these, or one that has not arrived here yet.
    const { proposals } = await this.client.readConversation({ params })
    const here = new Set<string>(this.waiting.map(({ id }) => id))
    const open = proposals.filter(({ id, status }) => status === "pending" && here.has(id))
    for (const { id } of open) this.#expiry.set(id, "open")
    this.print(line(open.length > 0 ? changeCardText.clockAhead : changeCardText.otherFirst))
    return false
  }

  get #time(): DecisionClock {
    return { now: this.#clock(), expiry: this.#expiry }
  }

  /** Everything below the scrollback: running calls, waiting changes, the queue. Never higher than the room. */
  body({ columns, rows }: Room): Line[] {
    const { conversation } = this
    const onTheirWay = (texts: readonly string[]) =>
      texts.map((text) => queuedLine(chatText.sentWhenBack, text, columns))
    if (!conversation) return this.isDisconnected ? onTheirWay(this.#firstMessages).slice(-rows) : []
    const now = Date.now()
    // The card shows the call of a waiting change.
    const waiting = new Set<string>(this.waiting.map(({ callId }) => callId))
    const live = this.scrollback.live(conversation.transcript, columns, {
      workingMs: (key) => conversation.workingMs(key, now),
      isHidden: (key) => waiting.has(key),
    })
    // Connected clients get an acknowledgement before a person could read this.
    const unsent = this.isDisconnected ? conversation.sending : []
    const notes = waitingLines(conversation.transcript, now, columns)
    const queue = queueLines(conversation.queue, conversation.transcript, columns)
    const queued = [...notes, ...queue, ...onTheirWay(unsent)]
    const room = Math.max(1, rows - queued.length)
    const card = this.card.draw(columns, room)
    return [...tailLines(live, room - card.length), ...card, ...queued].slice(-Math.max(1, rows))
  }

  get question(): string | undefined {
    return this.waiting.length > 0 ? decisionQuestion(this.waiting, this.#time) : undefined
  }
}

/** The settings of a new conversation: the choices of the person, and where its tools run. */
function newConversationBody(defaults: TerminalServer["defaults"], choices: StartChoices, title: string | undefined) {
  const { agent: usual, ...place } = defaults
  const { agent = usual, model, mode, fallback, settings } = choices
  // Another agent than the default one of the folder does not work on this machine.
  const where = agent === usual ? place : {}
  const given = { ...(agent ? { agent } : {}), ...(model ? { model } : {}), ...(title ? { title } : {}) }
  return { ...given, mode, settings, ...where, ...(fallback ? { fallback } : {}) }
}

/** The settings of the next conversation after this one. */
function startChoicesOf({ agent, model, modelChosen, mode, settings }: ConversationDetail): StartChoices {
  // Only a chosen model: the next conversation must not be tied to today's default.
  return { agent, model: modelChosen === false ? undefined : (model ?? undefined), mode, settings }
}

/** An error as text for a person. The server's own messages are complete. */
function explain(error: unknown): string {
  if (!(error instanceof ClientError)) return capitalized(`${failureReason(error)}.`)
  switch (error.code) {
    case "unreachable":
      return chatText.serverUnreachable
    case "unexpected_answer":
      return chatText.serverUnknown
    case "not_found":
      return chatText.notFound
    case "no_model_selected":
      return chatText.noModel
    case "unauthenticated":
      return chatText.tokenRefused
    default:
      return error.message
  }
}
