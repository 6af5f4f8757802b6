import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { chatText } from "../../strings/chat.ts"
import { DecisionInFlight, readArguments } from "../approvals/decision.ts"
import { whyNotYet } from "../approvals/change-card.ts"
import type { ScrollbackEntry } from "../drawing/scrollback.ts"
import { type Editor, editorOf, emptyEditor, isLong, unfoldedText } from "../input/folding.ts"
import type { InputHistory } from "../input/history.ts"
import type { Press } from "../input/keys.ts"
import { InputLine } from "../input/input-line.ts"
import type { Room } from "../line.ts"
import type { TerminalSession } from "../session/terminal-session.ts"
import { type ScreenFrame, layoutFrame } from "./frame.ts"
import { Attachments } from "./attachments.ts"
import { FrameScheduler } from "./frame-scheduler.ts"
import { statusLine } from "./status-line.ts"

export interface TerminalOptions {
  readonly history: InputHistory
  size(): Room
  quit(): void
}

/**
 * The keyboard and the screen of one terminal: the text being typed and what keys do. Messages, decisions and the
 * transcript belong to `TerminalSession`, which is loaded while the person starts typing.
 */
export class Terminal {
  hint = ""
  session: TerminalSession | undefined
  version = 0
  /** The last frame. */
  drawn: ScreenFrame | undefined
  readonly #ports: TerminalOptions
  readonly #startedAt = Date.now()
  readonly #listeners = new Set<() => void>()
  /** The proposal whose arguments are being edited. */
  #edited: Proposal | undefined
  /** A decision that does not count yet. While it is in the input line, the keys that scroll the change still work. */
  #refused = ""
  readonly #input: InputLine
  readonly #attachments: Attachments
  readonly #inFlight = new DecisionInFlight()
  readonly #quits = new DoubleQuit()
  #unsent: { readonly editor: Editor; readonly when: "queue" | "steer" }[] = []
  #asking: { readonly words: string; answer(isYes: boolean): void } | undefined
  readonly #frames = new FrameScheduler(() => this.#draw())

  constructor(ports: TerminalOptions) {
    this.#ports = ports
    const input = (this.#input = new InputLine(ports.history))
    const showHint = (words: string) => void (this.hint = words)
    this.#attachments = new Attachments({
      input,
      showHint,
      changed: () => this.#drawNow(),
      session: () => this.session,
    })
  }

  get editor(): Editor {
    return this.#input.editor
  }

  get #isRefused(): boolean {
    return this.editor.text !== "" && this.editor.text === this.#refused
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get entries(): readonly ScrollbackEntry[] {
    return this.session?.scrollback.entries ?? NO_ENTRIES
  }

  /** The server is open: sends what was typed in the meantime. */
  open(session: TerminalSession): void {
    this.session = session
    this.hint = ""
    this.#draw()
    const unsent = this.#unsent.splice(0)
    if (session.waiting.length > 0) {
      // The author did not know of the waiting change, so they must look before they send.
      for (const { editor } of unsent.reverse()) this.#input.restore(editor)
      if (!this.#input.isEmpty) this.#input.start.when = "none"
    } else for (const { editor, when } of unsent) this.#send(session, editor, when)
  }

  /**
   * Asks a question before the server is open. The current draft is set aside: a key that is already on its way must
   * not be the answer.
   */
  async askYesOrNo(words: string): Promise<boolean> {
    const draft = this.#input.editor
    this.#input.clear()
    const asked = Promise.withResolvers<boolean>()
    this.#asking = { words, answer: asked.resolve }
    this.#draw()
    const isYes = await asked.promise
    this.#asking = undefined
    if (draft.text !== "") this.#input.restore(draft)
    this.#draw()
    return isYes
  }

  readonly changed = this.#frames.onChange

  close(): void {
    this.#frames.stop()
    this.#listeners.clear()
    this.session?.close()
  }

  paste(text: string): void {
    this.#input.paste(text)
    if (!this.#edited) void this.#attachments.textPasted(text)
    this.#drawNow()
  }

  press(press: Press): void {
    const { isEmpty } = this.#input
    if (press.type !== "interrupt") this.hint = ""
    this.#act(press)
    if (!this.#edited) this.#attachments.keyPressed(press)
    if (this.#input.isEmpty && !isEmpty) this.#input.start.when = "same"
    this.#drawNow()
  }

  /** Redraws an empty screen. */
  redraw(): void {
    const { columns, rows } = this.#ports.size()
    this.session?.scrollback.repeat({ columns, rows: rows - 1 - (this.drawn?.lines.length ?? 0) })
    this.#drawNow()
  }

  frame(room: Room): ScreenFrame {
    const { editor, hint, session } = this
    // Applies also if only a key has caused a frame since the window became narrower.
    if (session) session.columns = room.columns
    const question = this.#edited ? chatText.editHint : (this.#asking?.words ?? session?.question ?? "")
    const status = session ? statusLine(session) : this.#asking ? [] : openingStatus(Date.now() - this.#startedAt)
    if (!session) this.#frames.tick()
    const below = this.#attachments.lines(room.columns)
    this.drawn = layoutFrame({ editor, hint, question, status, below, body: (left) => session?.body(left) ?? [] }, room)
    return this.drawn
  }

  #draw(): void {
    const waiting = this.session?.waiting ?? []
    const edited = this.#edited
    if (edited && !waiting.some(({ id }) => id === edited.id)) {
      this.#leaveEdit()
      this.hint = chatText.decidedElsewhere
    }
    if (waiting.length === 0 && this.#isRefused) this.#input.clear()
    this.#input.start.onFrame(waiting, this.editor.text)
    this.session?.settle(this.#ports.size().columns)
    this.#drawNow()
    // Updates running times and the time left to decide.
    if (this.session?.isBusy || waiting.length > 0) this.#frames.tick()
  }

  /** Keys are drawn at once. */
  #drawNow(): void {
    this.version++
    for (const listener of this.#listeners) listener()
  }

  #act(press: Press): void {
    const { session, editor } = this
    const reads = session && session.waiting.length > 0 && (editor.text === "" || this.#isRefused) && !this.#edited
    // Another word replaces the refused decision; anything but a letter, such as `!`, completes it.
    if (this.#isRefused && press.type === "text" && /^\p{L}/u.test(press.text)) this.#input.clear()
    if (reads && editor.text === "" && press.type === "text" && press.text === " ")
      return session.card.move("page-down")
    switch (press.type) {
      case "up":
      case "down":
        if (reads) return session.card.move(press.type)
        return this.#input.vertical(press.type === "up" ? -1 : 1, !this.#edited)
      case "line-start":
      case "line-end":
        if (reads) return session.card.move(press.type === "line-start" ? "home" : "end")
        return this.#input.edit(press)
      case "page-up":
      case "page-down":
        return session?.card.move(press.type)
      case "enter":
      case "queue":
        return this.#enter(press.type === "enter" ? "steer" : "queue")
      case "escape":
        return this.#escape()
      case "interrupt":
        return this.#interrupt()
      case "end-of-input":
        if (editor.text === "") return this.#ports.quit()
        return this.#input.edit({ type: "delete-right" })
      case "cycle-mode":
        return this.#attempt(session?.cycleMode())
      default:
        if (!this.#attachments.handleKey(press)) this.#input.edit(press)
    }
  }

  #enter(when: "queue" | "steer"): void {
    const input = this.#input
    if (this.#edited) return this.#sendEdit(this.#edited, input.words)
    if (this.#asking) return this.#answerYesOrNo(this.#asking)
    if (input.continuesLine()) return
    const obstacle = this.#attachments.obstacle ?? input.obstacle
    if (obstacle !== undefined) return void (this.hint = obstacle)
    if (this.session) return this.#submit(this.session, when)
    if (input.words.trim() === "") return
    this.#unsent.push({ editor: input.editor, when })
    this.hint = chatText.sentWhenOpen
    input.submit()
  }

  #answerYesOrNo({ answer }: { answer(isYes: boolean): void }): void {
    const word = this.#input.words.trim().toLowerCase()
    this.#input.clear()
    if (word === "y" || word === "yes") return answer(true)
    if (word === "n" || word === "no") return answer(false)
    this.hint = chatText.typeYesOrNo
  }

  #submit(session: TerminalSession, when: "queue" | "steer"): void {
    const input = this.#input
    const { editor: editor, words } = input
    if (session.waiting.length > 0 && input.start.when !== "none" && !/^\s*\//.test(words)) {
      const isMessage = this.#answer(session, words)
      if (!isMessage) return
    }
    if (words.trim() === "") return
    input.submit()
    this.#send(session, editor, when)
  }

  #send(session: TerminalSession, editor: Editor, when: "queue" | "steer"): void {
    const text = unfoldedText(editor)
    if (/^\/[a-z]+(\s|$)/.test(text.trim())) return this.#attempt(this.#command(session, text.trim()))
    this.#attempt(
      session
        .send(text, when, { seen: isLong(editor.text) ? "" : editor.text, files: editor.files })
        .catch((error: unknown) => {
          // A message that did not arrive is returned to the input line.
          this.#input.restore(editor)
          throw error
        }),
    )
  }

  /** Returns whether the text is a message after all. */
  #answer(session: TerminalSession, text: string): boolean {
    const decision = session.readDecision(text)
    if (decision.type === "message") return true
    if (this.#inFlight.isTo(session.waiting)) {
      this.hint = chatText.answerSending
      return false
    }
    const isForOtherChanges = this.#input.start.when === "changed"
    const hint = whyNotYet(decision, { isForOtherChanges, session, isBare: text.trim() === "" })
    if (hint !== undefined || decision.type === "unclear") {
      this.hint = hint ?? ""
      // An approval that came too early stays and can be sent again; a decision about other changes cannot.
      this.#refused = decision.type === "unclear" || isForOtherChanges ? "" : text
      if (this.#refused === "") this.#input.editor = emptyEditor
      return false
    }
    this.#input.editor = emptyEditor
    if (decision.type === "edit") {
      this.#edited = decision.proposal
      this.#input.editor = editorOf(JSON.stringify(decision.proposal.arguments, null, 2))
    } else this.#attempt(this.#inFlight.send(session.conversation ?? session, session.decide(decision)))
    return false
  }

  #sendEdit(proposal: Proposal, text: string): void {
    const edited = readArguments(text)
    const { session } = this
    if (typeof edited === "string") this.hint = edited
    if (typeof edited === "string" || !session) return
    // Before the response, because the edited proposal arrives as an event like any other.
    this.#leaveEdit()
    const params = { id: proposal.id }
    const edit = session.client.editProposal({ params, body: { arguments: edited } }).then(() => true)
    this.#attempt(
      this.#inFlight.send(session.conversation ?? session, edit).catch((error: unknown) => {
        this.#edited = proposal
        this.#input.editor = editorOf(text)
        throw error
      }),
    )
  }

  #leaveEdit(): void {
    this.#input.editor = emptyEditor
    this.#edited = undefined
  }

  async #command(session: TerminalSession, text: string): Promise<void> {
    const { runSlashCommand } = await import("../session/slash-commands.ts")
    const write = (words: string, files?: Editor["files"]) => this.#input.setText(words, files)
    await runSlashCommand(text, { session, write, paste: () => this.#attachments.pasteImage(), quit: this.#ports.quit })
  }

  #escape(): void {
    if (this.#edited) return this.#leaveEdit()
    const { session } = this
    if (this.#isRefused) return this.#input.clear()
    if (session && session.queue.length > 0) return this.#attempt(this.#withdrawLast(session))
    if (session?.conversation?.canStop) return this.#attempt(session.cancel())
    this.#input.editor = emptyEditor
  }

  async #withdrawLast(session: TerminalSession): Promise<void> {
    const back = await session.conversation?.withdrawLast()
    if (back === undefined) this.hint = chatText.alreadyTaken
    else this.#input.restore(editorOf(back.text, back.files))
  }

  #interrupt(): void {
    const isSecond = this.#quits.isSecond(() => {
      if (this.hint !== DoubleQuit.asks) return
      this.hint = ""
      this.#drawNow()
    })
    if (isSecond) return this.#ports.quit()
    this.hint = DoubleQuit.asks
    if (this.session?.isBusy) return this.#attempt(this.session.cancel())
    if (this.#edited) this.#leaveEdit()
    else this.#input.editor = emptyEditor
  }

  /** Prints errors, also that another client has decided a change in the meantime. */
  #attempt(work: Promise<unknown> | undefined): void {
    work?.then(this.changed, (error: unknown) => {
      this.session?.printError(error)
      this.changed()
    })
  }
}

const NO_ENTRIES: readonly ScrollbackEntry[] = []

const LONG_SECONDS = 5

/** The client waits for an unreachable server; after a while it shows how to quit. */
function openingStatus(ms: number): string[] {
  const seconds = Math.floor(ms / 1000)
  return seconds < LONG_SECONDS ? [chatText.opening] : [chatText.openingFor(seconds), chatText.leaveHint]
}

const DOUBLE_MS = 2000

/** The first press asks, a second one within two seconds quits. */
class DoubleQuit {
  static readonly asks = chatText.quitHint
  #until = 0

  /** `over` is called if no second press follows. */
  isSecond(over: () => void): boolean {
    if (Date.now() < this.#until) return true
    this.#until = Date.now() + DOUBLE_MS
    setTimeout(() => Date.now() >= this.#until && over(), DOUBLE_MS).unref()
    return false
  }
}
