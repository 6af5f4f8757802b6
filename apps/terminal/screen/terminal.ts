import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { chatText } from "../../strings/chat.ts"
import { AnswerOnItsWay, readArguments } from "../deciding/decision.ts"
import { whyNotNow } from "../deciding/waiting-card.ts"
import type { ScrollbackEntry } from "../drawing/scrollback.ts"
import { type Editor, editorOf, emptyEditor, isLong, unfoldedText } from "../input/folding.ts"
import type { InputHistory } from "../input/history.ts"
import type { Press } from "../input/keys.ts"
import { Writing } from "../input/writing.ts"
import type { Room } from "../line.ts"
import type { Talk } from "../talk/talk.ts"
import { type ScreenFrame, toFrame } from "./frame.ts"
import { NamingFiles } from "./naming-files.ts"
import { Pictures } from "./pictures.ts"
import { statusWords } from "./status-words.ts"

export interface TerminalPorts {
  readonly history: InputHistory
  size(): Room
  quit(): void
}

/**
 * The keyboard and the screen of one terminal. It knows what is being written and which key means what; what is said, decided
 * and shown of a conversation is `Talk`'s, which is loaded while the person begins to write.
 */
export class Terminal {
  hint = ""
  talk: Talk | undefined
  version = 0
  /** What was drawn last. */
  drawn: ScreenFrame | undefined
  readonly #ports: TerminalPorts
  readonly #begunAt = Date.now()
  readonly #listeners = new Set<() => void>()
  /** The proposal whose arguments are in the editor. */
  #edited: Proposal | undefined
  /** An answer that did not count yet: the keys that read the change still do while it is on the line. */
  #refused = ""
  readonly #writing: Writing
  readonly #naming: NamingFiles
  readonly #onItsWay = new AnswerOnItsWay()
  readonly #quits = new QuitTwice()
  #earlier: { readonly said: Editor; readonly when: "queue" | "steer" }[] = []
  #asking: { readonly words: string; answer(isYes: boolean): void } | undefined
  readonly #pictures = new Pictures(() => this.#draw())

  constructor(ports: TerminalPorts) {
    this.#ports = ports
    const writing = (this.#writing = new Writing(ports.history))
    const tell = (words: string) => void (this.hint = words)
    this.#naming = new NamingFiles({ writing, tell, changed: () => this.#drawNow(), talk: () => this.talk })
  }

  get editor(): Editor {
    return this.#writing.editor
  }

  get #isRefused(): boolean {
    return this.editor.text !== "" && this.editor.text === this.#refused
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get entries(): readonly ScrollbackEntry[] {
    return this.talk?.scrollback.entries ?? NOTHING
  }

  /** The rest of it is there: what was said meanwhile is said now. */
  open(talk: Talk): void {
    this.talk = talk
    this.hint = ""
    this.#draw()
    const earlier = this.#earlier.splice(0)
    if (talk.waiting.length > 0) {
      // Whoever said it did not know of what waits here: it is theirs to send after a look.
      for (const { said } of earlier.reverse()) this.#writing.giveBack(said)
      if (!this.#writing.isEmpty) this.#writing.begun.when = "before"
    } else for (const { said, when } of earlier) this.#send(talk, said, when)
  }

  /** Asks before Pawl is open. What was being written meanwhile is put aside: a key on its way must not be an answer. */
  async askYesOrNo(words: string): Promise<boolean> {
    const draft = this.#writing.editor
    this.#writing.clear()
    const asked = Promise.withResolvers<boolean>()
    this.#asking = { words, answer: asked.resolve }
    this.#draw()
    const isYes = await asked.promise
    this.#asking = undefined
    if (draft.text !== "") this.#writing.giveBack(draft)
    this.#draw()
    return isYes
  }

  /** Something has changed: it is drawn soon, and with whatever else changes until then. */
  readonly changed = this.#pictures.changed

  close(): void {
    this.#pictures.stop()
    this.#listeners.clear()
    this.talk?.close()
  }

  paste(text: string): void {
    this.#writing.paste(text)
    if (!this.#edited) void this.#naming.pasted(text)
    this.#drawNow()
  }

  press(press: Press): void {
    const { isEmpty } = this.#writing
    if (press.type !== "interrupt") this.hint = ""
    this.#act(press)
    if (!this.#edited) this.#naming.pressed(press)
    if (this.#writing.isEmpty && !isEmpty) this.#writing.begun.when = "here"
    this.#drawNow()
  }

  /** Onto a screen on which nothing stands any more. */
  redraw(): void {
    const { columns, rows } = this.#ports.size()
    this.talk?.scrollback.repeat({ columns, rows: rows - 1 - (this.drawn?.lines.length ?? 0) })
    this.#drawNow()
  }

  frame(room: Room): ScreenFrame {
    const { editor, hint, talk } = this
    // What is printed next is broken as the window is now, also where only a key has drawn since it became narrower.
    if (talk) talk.columns = room.columns
    const question = this.#edited ? chatText.editHint : (this.#asking?.words ?? talk?.question ?? "")
    const status = talk ? statusWords(talk) : this.#asking ? [] : openingWords(Date.now() - this.#begunAt)
    if (!talk) this.#pictures.tick()
    const below = this.#naming.lines(room.columns)
    this.drawn = toFrame({ editor, hint, question, status, below, body: (left) => talk?.body(left) ?? [] }, room)
    return this.drawn
  }

  #draw(): void {
    const waiting = this.talk?.waiting ?? []
    const edited = this.#edited
    if (edited && !waiting.some(({ id }) => id === edited.id)) {
      this.#leaveEdit()
      this.hint = chatText.decidedElsewhere
    }
    if (waiting.length === 0 && this.#isRefused) this.#writing.clear()
    this.#writing.begun.draws(waiting, this.editor.text)
    this.talk?.settle(this.#ports.size().columns)
    this.#drawNow()
    // The time of what works goes on, and so does the time that is left to decide.
    if (this.talk?.isBusy || waiting.length > 0) this.#pictures.tick()
  }

  /** Keys are answered at once. */
  #drawNow(): void {
    this.version++
    for (const listener of this.#listeners) listener()
  }

  #act(press: Press): void {
    const { talk, editor } = this
    const reads = talk && talk.waiting.length > 0 && (editor.text === "" || this.#isRefused) && !this.#edited
    // Another word takes the place of an answer that did not count; what is not a letter completes it, such as `!`.
    if (this.#isRefused && press.type === "text" && /^\p{L}/u.test(press.text)) this.#writing.clear()
    if (reads && editor.text === "" && press.type === "text" && press.text === " ") return talk.card.move("page-down")
    switch (press.type) {
      case "up":
      case "down":
        if (reads) return talk.card.move(press.type)
        return this.#writing.vertical(press.type === "up" ? -1 : 1, !this.#edited)
      case "line-start":
      case "line-end":
        if (reads) return talk.card.move(press.type === "line-start" ? "home" : "end")
        return this.#writing.edit(press)
      case "page-up":
      case "page-down":
        return talk?.card.move(press.type)
      case "enter":
      case "queue":
        return this.#enter(press.type === "enter" ? "steer" : "queue")
      case "escape":
        return this.#escape()
      case "interrupt":
        return this.#interrupt()
      case "end-of-input":
        if (editor.text === "") return this.#ports.quit()
        return this.#writing.edit({ type: "delete-right" })
      case "cycle-mode":
        return this.#attempt(talk?.cycleMode())
      default:
        if (!this.#naming.takes(press)) this.#writing.edit(press)
    }
  }

  #enter(when: "queue" | "steer"): void {
    const writing = this.#writing
    if (this.#edited) return this.#sendEdit(this.#edited, writing.words)
    if (this.#asking) return this.#answerYesOrNo(this.#asking)
    if (writing.continuesLine()) return
    const obstacle = this.#naming.obstacle ?? writing.obstacle
    if (obstacle !== undefined) return void (this.hint = obstacle)
    if (this.talk) return this.#submit(this.talk, when)
    if (writing.words.trim() === "") return
    this.#earlier.push({ said: writing.editor, when })
    this.hint = chatText.sentWhenOpen
    writing.keep()
  }

  #answerYesOrNo({ answer }: { answer(isYes: boolean): void }): void {
    const word = this.#writing.words.trim().toLowerCase()
    this.#writing.clear()
    if (word === "y" || word === "yes") return answer(true)
    if (word === "n" || word === "no") return answer(false)
    this.hint = chatText.typeYesOrNo
  }

  #submit(talk: Talk, when: "queue" | "steer"): void {
    const writing = this.#writing
    const { editor: said, words } = writing
    if (talk.waiting.length > 0 && writing.begun.when !== "before" && !/^\s*\//.test(words)) {
      const isMessage = this.#answer(talk, words)
      if (!isMessage) return
    }
    if (words.trim() === "") return
    writing.keep()
    this.#send(talk, said, when)
  }

  #send(talk: Talk, said: Editor, when: "queue" | "steer"): void {
    const text = unfoldedText(said)
    if (/^\/[a-z]+(\s|$)/.test(text.trim())) return this.#attempt(this.#command(talk, text.trim()))
    this.#attempt(
      talk.say(text, when, { seen: isLong(said.text) ? "" : said.text, files: said.files }).catch((error: unknown) => {
        // Words that did not arrive are not lost.
        this.#writing.giveBack(said)
        throw error
      }),
    )
  }

  /** Whether the words are a message after all. */
  #answer(talk: Talk, text: string): boolean {
    const decision = talk.readDecision(text)
    if (decision.type === "message") return true
    if (this.#onItsWay.isTo(talk.waiting)) {
      this.hint = chatText.answerSending
      return false
    }
    const isUnderOthers = this.#writing.begun.when === "under-others"
    const hint = whyNotNow(decision, { isUnderOthers, talk, isBare: text.trim() === "" })
    if (hint !== undefined || decision.type === "unclear") {
      this.hint = hint ?? ""
      // An approval that came too soon stays on the line and can be sent again. An answer to another change cannot.
      this.#refused = decision.type === "unclear" || isUnderOthers ? "" : text
      if (this.#refused === "") this.#writing.editor = emptyEditor
      return false
    }
    this.#writing.editor = emptyEditor
    if (decision.type === "edit") {
      this.#edited = decision.proposal
      this.#writing.editor = editorOf(JSON.stringify(decision.proposal.arguments, null, 2))
    } else this.#attempt(this.#onItsWay.send(talk.conversation ?? talk, talk.decide(decision)))
    return false
  }

  #sendEdit(proposal: Proposal, text: string): void {
    const given = readArguments(text)
    const { talk } = this
    if (typeof given === "string") this.hint = given
    if (typeof given === "string" || !talk) return
    // It is replaced before the answer is here: what it is replaced by is shown like any other.
    this.#leaveEdit()
    const params = { id: proposal.id }
    const edit = talk.client.editProposal({ params, body: { arguments: given } }).then(() => true)
    this.#attempt(
      this.#onItsWay.send(talk.conversation ?? talk, edit).catch((error: unknown) => {
        this.#edited = proposal
        this.#writing.editor = editorOf(text)
        throw error
      }),
    )
  }

  #leaveEdit(): void {
    this.#writing.editor = emptyEditor
    this.#edited = undefined
  }

  async #command(talk: Talk, text: string): Promise<void> {
    const { runSlashCommand } = await import("../talk/commands.ts")
    const write = (words: string, files?: Editor["files"]) => this.#writing.put(words, files)
    await runSlashCommand(text, { talk, write, paste: () => this.#naming.pasteImage(), quit: this.#ports.quit })
  }

  #escape(): void {
    if (this.#edited) return this.#leaveEdit()
    const { talk } = this
    if (this.#isRefused) return this.#writing.clear()
    if (talk && talk.queue.length > 0) return this.#attempt(this.#takeBack(talk))
    if (talk?.conversation?.canStop) return this.#attempt(talk.cancel())
    this.#writing.editor = emptyEditor
  }

  async #takeBack(talk: Talk): Promise<void> {
    const back = await talk.conversation?.takeBack()
    if (back === undefined) this.hint = chatText.alreadyTaken
    else this.#writing.giveBack(editorOf(back.text, back.files))
  }

  #interrupt(): void {
    const isSecond = this.#quits.isSecond(() => {
      if (this.hint !== QuitTwice.asks) return
      this.hint = ""
      this.#drawNow()
    })
    if (isSecond) return this.#ports.quit()
    this.hint = QuitTwice.asks
    if (this.talk?.isBusy) return this.#attempt(this.talk.cancel())
    if (this.#edited) this.#leaveEdit()
    else this.#writing.editor = emptyEditor
  }

  /** What goes wrong is said; a change that somebody else has decided meanwhile is no exception. */
  #attempt(work: Promise<unknown> | undefined): void {
    work?.then(this.changed, (error: unknown) => {
      this.talk?.complain(error)
      this.changed()
    })
  }
}

const NOTHING: readonly ScrollbackEntry[] = []

const LONG_SECONDS = 5

/** A server that is away is waited for; whoever does not want to wait learns how to leave. */
function openingWords(ms: number): string[] {
  const seconds = Math.floor(ms / 1000)
  return seconds < LONG_SECONDS ? [chatText.opening] : [chatText.openingFor(seconds), chatText.leaveHint]
}

const WITHIN_MS = 2000

/** One press asks, a second one within two seconds quits. */
class QuitTwice {
  static readonly asks = chatText.quitHint
  #until = 0

  /** `over`: the second one did not come. */
  isSecond(over: () => void): boolean {
    if (Date.now() < this.#until) return true
    this.#until = Date.now() + WITHIN_MS
    setTimeout(() => Date.now() >= this.#until && over(), WITHIN_MS).unref()
    return false
  }
}
