import type { Proposal } from "../protocol/proposal.ts"
import { AnswerOnItsWay } from "./answer-on-its-way.ts"
import type { Decision } from "./decision.ts"
import { editing } from "./editing.ts"
import { type Editor, editorOf, emptyEditor, insert, toLine } from "./editor.ts"
import { type Frame, toFrame } from "./frame.ts"
import type { InputHistory } from "./input-history.ts"
import type { Press } from "./keys.ts"
import { openingWords } from "./opening-words.ts"
import { Pictures } from "./pictures.ts"
import { QuitTwice } from "./quit-twice.ts"
import { readArguments } from "./read-arguments.ts"
import type { Entry } from "./scrollback.ts"
import type { Room } from "./room.ts"
import type { Talk } from "./talk.ts"
import { WordsBegun } from "./words-begun.ts"

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
  editor: Editor = emptyEditor
  hint = ""
  talk: Talk | undefined
  version = 0
  /** What was drawn last. */
  drawn: Frame | undefined
  readonly #ports: TerminalPorts
  readonly #begunAt = Date.now()
  readonly #listeners = new Set<() => void>()
  /** The proposal whose arguments are in the editor. */
  #edited: Proposal | undefined
  readonly #begun = new WordsBegun()
  readonly #onItsWay = new AnswerOnItsWay()
  readonly #quits = new QuitTwice()
  #earlier: { readonly text: string; readonly when: "queue" | "steer" }[] = []
  readonly #pictures = new Pictures(() => this.#draw())

  constructor(ports: TerminalPorts) {
    this.#ports = ports
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get entries(): readonly Entry[] {
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
      this.editor = editorOf([...earlier.map(({ text }) => text), this.editor.text].join("\n").trim())
      if (this.editor.text !== "") this.#begun.when = "before"
    } else for (const { text, when } of earlier) this.#submit(text, when)
  }

  /** Something has changed: it is drawn soon, and with whatever else changes until then. */
  readonly changed = this.#pictures.changed

  close(): void {
    this.#pictures.stop()
    this.#listeners.clear()
    this.talk?.conversation?.close()
  }

  paste(text: string): void {
    this.editor = insert(this.editor, text.replaceAll(/\r\n?/g, "\n"))
    this.#drawNow()
  }

  press(press: Press): void {
    const before = this.editor
    if (press.type !== "interrupt") this.hint = ""
    this.#act(press)
    if (this.editor.text === "" && before.text !== "") this.#begun.when = "here"
    this.#drawNow()
  }

  /** Onto a screen on which nothing stands any more. */
  redraw(): void {
    const { columns, rows } = this.#ports.size()
    this.talk?.scrollback.repeat({ columns, rows: rows - 1 - (this.drawn?.lines.length ?? 0) })
    this.#drawNow()
  }

  frame(room: Room): Frame {
    const { editor, hint, talk } = this
    const question = this.#edited ? "Change it, then Enter; Esc leaves it as it was." : (talk?.question ?? "")
    const status = talk ? talk.status() : openingWords(Date.now() - this.#begunAt)
    if (!talk) this.#pictures.tick()
    this.drawn = toFrame({ editor, hint, question, status, body: (left) => talk?.body(left) ?? [] }, room)
    return this.drawn
  }

  #draw(): void {
    const waiting = this.talk?.waiting ?? []
    const edited = this.#edited
    if (edited && !waiting.some(({ id }) => id === edited.id)) {
      this.#leaveEdit()
      this.hint = "It was decided elsewhere meanwhile."
    }
    this.#begun.draws(waiting, this.editor.text)
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
    const reads = talk && talk.waiting.length > 0 && editor.text === "" && !this.#edited
    if (reads && press.type === "text" && press.text === " ") return talk.card.move("page-down")
    switch (press.type) {
      case "up":
      case "down":
        if (reads) return talk.card.move(press.type)
        return this.#vertical(press.type === "up" ? -1 : 1)
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
        return this.#change(editing(editor, { type: "delete-right" }))
      case "cycle-mode":
        return this.#attempt(talk?.cycleMode())
      default:
        this.#change(editing(editor, press))
    }
  }

  #change(editor: Editor | undefined): void {
    if (editor) this.editor = editor
  }

  #vertical(direction: -1 | 1): void {
    const moved = toLine(this.editor, direction)
    if (moved) return this.#change(moved)
    if (this.#edited) return
    const found = this.#ports.history.go(direction, this.editor.text)
    if (found !== undefined) this.editor = editorOf(found)
  }

  #enter(when: "queue" | "steer"): void {
    const { text, at } = this.editor
    if (text.endsWith("\\") && at === text.length && !this.#edited)
      return this.#change(editorOf(`${text.slice(0, -1)}\n`))
    if (this.#edited) return this.#sendEdit(this.#edited, text)
    if (!this.talk) {
      if (text.trim() === "") return
      this.#earlier.push({ text, when })
      this.hint = "It is sent as soon as Pawl is open."
      return this.#keep(text)
    }
    this.#submit(text, when)
  }

  #submit(text: string, when: "queue" | "steer"): void {
    const { talk } = this
    if (!talk) return
    if (talk.waiting.length > 0 && this.#begun.when !== "before" && !/^\s*\//.test(text)) {
      const isMessage = this.#answer(talk, text)
      if (!isMessage) return
    }
    if (text.trim() === "") return
    this.#keep(text)
    if (/^\/[a-z]+(\s|$)/.test(text.trim())) return this.#attempt(this.#command(talk, text.trim()))
    this.#attempt(
      talk.say(text, when).catch((error: unknown) => {
        // Words that did not arrive are not lost.
        if (this.editor.text === "") this.#giveBack(text)
        throw error
      }),
    )
  }

  /** They were no answer, and are none to what has come up since. */
  #giveBack(text: string): void {
    this.editor = editorOf(text)
    this.#begun.when = "before"
  }

  #keep(text: string): void {
    this.#ports.history.add(text)
    this.editor = emptyEditor
    this.#begun.when = "here"
  }

  /** Whether the words are a message after all. */
  #answer(talk: Talk, text: string): boolean {
    const decision = talk.readDecision(text)
    if (decision.type === "message") return true
    if (this.#onItsWay.isTo(talk.waiting)) {
      this.hint = "Your answer is on its way."
      return false
    }
    this.editor = emptyEditor
    if (this.#begun.when === "under-others") this.hint = "What waits is another one now: look, then answer."
    else if (decision.type === "unclear") this.hint = decision.says
    else if (decision.type === "edit") {
      this.#edited = decision.proposal
      this.editor = editorOf(JSON.stringify(decision.proposal.arguments, null, 2))
    } else if (AGREES.has(decision.type) && !talk.card.isRead(talk.waiting)) {
      this.hint = "Read it to its end first: Space or PgDn."
    } else if (text.trim() === "" && decision.type === "no" && !talk.card.isShown(talk.waiting)) {
      this.hint = "It was not on the screen yet: look, then answer."
    } else this.#attempt(this.#onItsWay.send(talk.waiting, talk.decide(decision)))
    return false
  }

  #sendEdit(proposal: Proposal, text: string): void {
    const given = readArguments(text)
    const { talk } = this
    if (typeof given === "string") this.hint = given
    if (typeof given === "string" || !talk) return
    // It is replaced before the answer is here: what it is replaced by is shown like any other.
    this.#leaveEdit()
    const send = async () => {
      try {
        await talk.client.editProposal({ params: { id: proposal.id }, body: { arguments: given } })
        return true
      } catch (error) {
        this.#edited = proposal
        this.editor = editorOf(text)
        throw error
      }
    }
    this.#attempt(this.#onItsWay.send(talk.waiting, send()))
  }

  #leaveEdit(): void {
    this.editor = emptyEditor
    this.#edited = undefined
  }

  async #command(talk: Talk, text: string): Promise<void> {
    const { runCommand } = await import("./commands.ts")
    const write = (words: string) => void (this.editor = editorOf(words))
    await runCommand(text, { talk, write, quit: this.#ports.quit })
  }

  #escape(): void {
    if (this.#edited) return this.#leaveEdit()
    const { talk } = this
    if (talk && (talk.isBusy || talk.waiting.length > 0)) return this.#attempt(talk.cancel())
    this.editor = emptyEditor
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
    else this.editor = emptyEditor
  }

  /** What goes wrong is said; a change that somebody else has decided meanwhile is no exception. */
  #attempt(work: Promise<unknown> | undefined): void {
    work?.then(this.changed, (error: unknown) => {
      this.talk?.complain(error)
      this.changed()
    })
  }
}

const AGREES: ReadonlySet<Decision["type"]> = new Set(["yes", "all", "always"])
const NOTHING: readonly Entry[] = []
