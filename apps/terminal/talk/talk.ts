import { ClientError } from "../../../client/client-error.ts"
import type { Client } from "../../../client/client.ts"
import { capitalized, describeAlways } from "../../../client/words.ts"
import type { ConversationDetail } from "../../../core/protocol/answers.ts"
import { titleOf } from "../../../core/protocol/conversation/message.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import { DEFAULT_GRANT_USES, type Proposal } from "../../../core/protocol/proposals/proposal.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { changeCardText } from "../../strings/approvals.ts"
import { chatText } from "../../strings/chat.ts"
import { type Time, type TypedDecision, questionOf, readDecision } from "../deciding/decision.ts"
import { WaitingCard } from "../deciding/waiting-card.ts"
import { noteLines, queueLines, tailLines, wordsLine } from "../drawing/note-lines.ts"
import { Scrollback } from "../drawing/scrollback.ts"
import { DIM, type Line, type Room, line, span } from "../line.ts"
import { toShown } from "../shown.ts"
import type { StartChoices, TerminalServer } from "../terminal-server.ts"
import { wrap } from "../wrap.ts"
import { type Along, OpenConversation } from "./open-conversation.ts"
import { untilAnswered } from "./sent-files.ts"

const MODES: readonly Mode[] = ["read-only", "confirm", "auto"]
const MODE_SET = { all: changeCardText.modeAll, none: changeCardText.modeNone } as const

/** What `always` has approved. A prefix is shown as it was stated. */
function grantedWords(proposal: Proposal, prefix: string | undefined): string {
  const what = prefix === undefined ? describeAlways(proposal) : changeCardText.alwaysPrefix(DEFAULT_GRANT_USES, prefix)
  return changeCardText.granted(what)
}

/** What is said and decided in this terminal, and what of it is on the screen. Everything it knows of a conversation is its transcript. */
export class Talk {
  readonly scrollback = new Scrollback()
  readonly card = new WaitingCard()
  readonly reached: TerminalServer
  choices: StartChoices
  /** Which model answers where nobody has chosen one. */
  usualModel = ""
  /** What models can read, of those that were chosen here: a change of the model says only its name. */
  readonly windows = new Map<string, number>()
  conversation: OpenConversation | undefined
  readonly #changed: () => void
  readonly #clock: () => number
  /** This machine's clock may go wrong: of these the server has said whether they have expired. */
  readonly #said = new Map<string, "expired" | "open">()
  #first: readonly string[] = []
  #beginning: Promise<OpenConversation> | undefined
  /** Counts where its person has gone: what they left before it was read does not take the screen. */
  #turn = 0
  #isClosed = false
  #isAway = false
  columns = 80

  constructor(reached: TerminalServer, choices: StartChoices, changed: () => void, clock: () => number = Date.now) {
    this.reached = reached
    this.choices = choices
    this.#changed = changed
    this.#clock = clock
  }

  get client(): Client {
    return this.reached.client
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

  /** Nobody is there to hear anything. */
  get isAway(): boolean {
    return this.conversation ? this.conversation.line === "waiting" : this.#isAway
  }

  get mode(): Mode {
    return this.conversation?.transcript.mode ?? this.choices.mode
  }

  /** Prints what has become final since. */
  settle(columns: number): void {
    this.columns = columns
    this.card.set(this.waiting)
    this.#take()
  }

  #take(): void {
    if (this.conversation) this.scrollback.take(this.conversation.transcript, this.columns)
  }

  print(...lines: readonly Line[]): void {
    // What came before stands before. The card stays as it is: what waits is taken up when all of it is drawn.
    this.#take()
    this.scrollback.print(lines.flatMap((each) => wrap(each, this.columns)))
    this.#changed()
  }

  /** Says in the scrollback what went wrong. */
  complain(error: unknown): void {
    this.print([span("! ", { colour: "red" }), span(toShown(explain(error)))])
  }

  /** Says something; the first words begin the conversation. `along` is what goes with it. */
  async say(text: string, when: "queue" | "steer", along?: Along): Promise<void> {
    await (this.conversation ?? (await this.#beginWith(text))).say(text, when, along)
  }

  /** Words that come before there is a conversation are all of the same one. */
  async #beginWith(text: string): Promise<OpenConversation> {
    this.#first = [...this.#first, text]
    // At worst an empty one is left behind: nothing has been said in it.
    const beginning = (this.#beginning ??= untilAnswered(async () => {
      try {
        return await this.begin(titleOf(text))
      } catch (error) {
        this.#isAway = hasCode(error, "unreachable")
        this.#changed()
        throw error
      }
    }).finally(() => {
      this.#isAway = false
      this.#first = []
      // Whoever has left it meanwhile may be beginning another one.
      if (this.#beginning === beginning) this.#beginning = undefined
    }))
    return beginning
  }

  async begin(title?: string): Promise<OpenConversation> {
    const turn = ++this.#turn
    const body = beginsAs(this.reached.begins, this.choices, title)
    const { id } = await this.client.createConversation({ body })
    return this.enter(id, turn)
  }

  /** Shows a conversation, and leaves the one before; unless its person has gone elsewhere while it was being read. */
  async enter(id: string, turn: number = ++this.#turn): Promise<OpenConversation> {
    const detail = await this.client.readConversation({ params: { id } })
    const told = {
      changed: this.#changed,
      workFolder: this.reached.workFolder,
      tells: (words: string) => this.print(line(words, DIM)),
      failed: (error: unknown) => this.complain(error),
    }
    const conversation = new OpenConversation(this.client, detail, told)
    const isLeft = turn !== this.#turn
    if (isLeft || this.#isClosed) conversation.close()
    if (isLeft) return conversation
    this.conversation?.close()
    const isNew = detail.messages.length === 0 && detail.proposals.length === 0
    this.scrollback.turnTo(
      isNew ? [] : [[], line(chatText.conversationTitle(toShown(detail.title ?? chatText.untitled)), DIM)],
    )
    this.conversation = conversation
    this.choices = startChoicesOf(detail)
    this.reached.entered(id)
    this.#changed()
    return conversation
  }

  /** Listens to nothing any more, nor to a conversation that is only being opened: it would keep the process for ever. */
  close(): void {
    this.#isClosed = true
    this.conversation?.close()
  }

  /** Leaves the conversation; the next words begin another one. */
  leave(choices: Partial<StartChoices> = {}): void {
    this.#turn++
    this.#beginning = undefined
    this.choices = { ...this.choices, mode: this.mode, ...choices }
    this.conversation?.close()
    this.conversation = undefined
    this.scrollback.turnTo([])
    this.#changed()
  }

  async cancel(): Promise<void> {
    if (this.conversation) await this.client.cancelRun({ params: { id: this.conversation.id } })
  }

  async cycleMode(): Promise<void> {
    const mode = MODES[(MODES.indexOf(this.mode) + 1) % MODES.length] as Mode
    await this.setMode(mode).catch(async (error: unknown) => {
      // An operator may forbid `auto`: then there are two to go round.
      if (!hasCode(error, "mode_forbidden")) throw error
      await this.setMode("read-only")
    })
  }

  async setMode(mode: Mode): Promise<void> {
    if (this.conversation)
      await this.client.changeConversation({ params: { id: this.conversation.id }, body: { mode } })
    this.choices = { ...this.choices, mode }
    this.#changed()
  }

  async setModel(name: string): Promise<void> {
    // Before the first message there is no conversation yet; new ones start with the model that was chosen last.
    if (this.conversation) await this.client.chooseModel({ params: { id: this.conversation.id }, body: { name } })
    else await this.client.chooseDefaultModel({ body: { name } })
    this.choices = { ...this.choices, model: name }
    this.#changed()
  }

  readDecision(text: string): TypedDecision {
    return readDecision(text, this.waiting, this.#time)
  }

  /** Carries a decision out; what it leads to comes with the conversation. Whether it leads to anything is the answer. */
  async decide(decision: Exclude<TypedDecision, { type: "message" | "unclear" | "edit" }>): Promise<boolean> {
    if (decision.type === "resolve") {
      const { proposal, choice } = decision
      await this.client.resolveProposal({ params: { id: proposal.id }, body: { choice } })
      return true
    }
    if (decision.type === "go-on") return this.#goOn()
    if (decision.type === "again") return this.proposeAgain(decision.proposals)
    if (decision.type === "always") {
      const { proposal, prefix } = decision
      const body = { always: prefix === undefined ? (true as const) : { prefix } }
      await this.client.commitProposal({ params: { id: proposal.id }, body })
      this.print(line(toShown(grantedWords(proposal, prefix)), DIM))
      return true
    }
    const { type, proposals } = decision
    const [first] = proposals
    if (!first) return false
    const proposalIds = proposals.map(({ id }) => id)
    const params = { id: first.conversationId }
    const answer = await this.client.decideAll({ params, body: { decision: type, proposalIds } })
    if (type === "all" || type === "none") this.print(line(MODE_SET[type], DIM))
    return this.#seeExpired(answer.proposals)
  }

  /** Has what expired proposed anew. One behind the other: while one is being proposed the conversation is busy. */
  async proposeAgain(proposals: readonly Proposal[]): Promise<boolean> {
    for (const { id } of proposals) await this.client.proposeAgain({ params: { id } })
    return true
  }

  /** Says what had expired before it could be decided, whatever the time is here, and goes on where nothing else waits. */
  async #seeExpired(decided: readonly Proposal[]): Promise<boolean> {
    const late = decided.filter(({ status }) => status === "expired")
    if (late.length === 0) return true
    for (const { id } of late) this.#said.set(id, "expired")
    this.print(line(changeCardText.expiredBefore(late.map(({ summary }) => toShown(summary)).join(", "))))
    const over = new Set<string>(decided.flatMap(({ id, status }) => (status === "in_doubt" ? [] : [id])))
    const isAll = this.waiting.every(({ id }) => over.has(id) || this.#said.get(id) === "expired")
    return isAll ? this.#goOn() : late.length < decided.length
  }

  /** Settles what has expired: the model learns that it was not done, and goes on. */
  async #goOn(): Promise<boolean> {
    const { conversation } = this
    if (!conversation) return false
    const params = { id: conversation.id }
    try {
      await this.client.resumeRun({ params })
      return true
    } catch (error) {
      if (!hasCode(error, "still_pending")) throw error
    }
    // Something is open there: one of these, or another one that is on its way here.
    const { proposals } = await this.client.readConversation({ params })
    const here = new Set<string>(this.waiting.map(({ id }) => id))
    const open = proposals.filter(({ id, status }) => status === "pending" && here.has(id))
    for (const { id } of open) this.#said.set(id, "open")
    this.print(line(open.length > 0 ? changeCardText.clockAhead : changeCardText.otherFirst))
    return false
  }

  get #time(): Time {
    return { now: this.#clock(), said: this.#said }
  }

  /** What is not in the scrollback: what works, what waits, what is queued. Never more lines than there is room for. */
  body({ columns, rows }: Room): Line[] {
    const { conversation } = this
    const onTheirWay = (texts: readonly string[]) =>
      texts.map((text) => wordsLine(chatText.sentWhenBack, text, columns))
    if (!conversation) return this.isAway ? onTheirWay(this.#first).slice(-rows) : []
    const now = Date.now()
    // A call that waits is shown by its card.
    const waiting = new Set<string>(this.waiting.map(({ callId }) => callId))
    const live = this.scrollback.live(conversation.transcript, columns, {
      workingMs: (key) => conversation.workingMs(key, now),
      isHidden: (key) => waiting.has(key),
    })
    // Normally they arrive before anybody could read that they are on their way.
    const unsent = this.isAway ? conversation.sending : []
    const notes = noteLines(conversation.transcript, now, columns)
    const queue = queueLines(conversation.queue, conversation.transcript, columns)
    const queued = [...notes, ...queue, ...onTheirWay(unsent)]
    const room = Math.max(1, rows - queued.length)
    const card = this.card.draw(columns, room)
    return [...tailLines(live, room - card.length), ...card, ...queued].slice(-Math.max(1, rows))
  }

  get question(): string | undefined {
    return this.waiting.length > 0 ? questionOf(this.waiting, this.#time) : undefined
  }
}

/** What a conversation begins with: what its person chose, in the place where the terminal works. */
function beginsAs(begins: TerminalServer["begins"], choices: StartChoices, title: string | undefined) {
  const { agent: usual, ...place } = begins
  const { agent = usual, model, mode, fallback, settings } = choices
  // Another agent than the one of the folder has nothing to do on this machine.
  const where = agent === usual ? place : {}
  const given = { ...(agent ? { agent } : {}), ...(model ? { model } : {}), ...(title ? { title } : {}) }
  return { ...given, mode, settings, ...where, ...(fallback ? { fallback } : {}) }
}

/** What the next conversation begins with after this one. */
function startChoicesOf({ agent, model, modelChosen, mode, settings }: ConversationDetail): StartChoices {
  // Only a model that somebody chose: the next one must not be tied to what is the default today.
  return { agent, model: modelChosen === false ? undefined : (model ?? undefined), mode, settings }
}

/** An error in words for a person: what happened and what to do. The server's own sentences say both. */
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
