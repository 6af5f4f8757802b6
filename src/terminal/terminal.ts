import type { Proposal } from "../protocol/proposal.ts"
import type { Decision } from "./decision.ts"
import { editing } from "./editing.ts"
import { type Editor, editorOf, emptyEditor, insert, toLine } from "./editor.ts"
import { type Frame, toFrame } from "./frame.ts"
import type { InputHistory } from "./input-history.ts"
import type { Press } from "./keys.ts"
import { Pictures } from "./pictures.ts"
import { readArguments } from "./read-arguments.ts"
import type { Entry } from "./scrollback.ts"
import type { Room } from "./room.ts"
import type { Talk } from "./talk.ts"

export interface TerminalPorts {
  readonly history: InputHistory
  size(): Room
  quit(): void
}

const QUIT_WITHIN_MS = 2000
const QUITS = "Ctrl-C again quits."
const LONG_SECONDS = 5

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
  /** The proposal whose arguments are in the editor, and what was there before. */
  #edit: { readonly proposal: Proposal; readonly before: Editor } | undefined
  /** What was begun before a change came up is no answer to it. */
  #begunBefore = false
  #wasWaiting = false
  /** What an answer is on its way to. What comes up meanwhile is answered by itself. */
  #deciding: string | undefined
  #quitsUntil = 0
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
      this.#begunBefore = this.editor.text !== ""
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
    if (this.editor.text === "" && before.text !== "") this.#begunBefore = false
    this.#drawNow()
  }

  frame(room: Room): Frame {
    const { editor, hint, talk } = this
    const question = this.#edit ? "Change it, then Enter; Esc leaves it as it was." : (talk?.question ?? "")
    const status = talk ? talk.status() : this.#opening()
    this.drawn = toFrame({ editor, hint, question, status, body: (left) => talk?.body(left) ?? [] }, room)
    return this.drawn
  }

  /** A server that is away is waited for; whoever does not want to wait learns how to leave. */
  #opening(): string[] {
    this.#pictures.tick()
    const seconds = Math.floor((Date.now() - this.#begunAt) / 1000)
    return seconds < LONG_SECONDS ? ["opening …"] : [`opening … ${seconds} s`, "Ctrl-C twice leaves"]
  }

  #draw(): void {
    const waits = (this.talk?.waiting.length ?? 0) > 0
    if (waits && !this.#wasWaiting) this.#begunBefore = this.editor.text !== ""
    this.#wasWaiting = waits
    const edited = this.#edit?.proposal.id
    if (edited && !this.talk?.waiting.some(({ id }) => id === edited)) {
      this.#leaveEdit()
      this.hint = "It was decided elsewhere meanwhile."
    }
    this.talk?.settle(this.#ports.size().columns)
    this.#drawNow()
    // The time of what works goes on, and so does the time that is left to decide.
    if (this.talk?.isBusy || waits) this.#pictures.tick()
  }

  /** Keys are answered at once. */
  #drawNow(): void {
    this.version++
    for (const listener of this.#listeners) listener()
  }

  #act(press: Press): void {
    const { talk, editor } = this
    const reads = talk && talk.waiting.length > 0 && editor.text === "" && !this.#edit
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
    if (this.#edit) return
    const found = this.#ports.history.go(direction, this.editor.text)
    if (found !== undefined) this.editor = editorOf(found)
  }

  #enter(when: "queue" | "steer"): void {
    const { text, at } = this.editor
    if (text.endsWith("\\") && at === text.length && !this.#edit)
      return this.#change(editorOf(`${text.slice(0, -1)}\n`))
    if (this.#edit) return this.#sendEdit(this.#edit.proposal, text)
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
    if (talk.waiting.length > 0 && !this.#begunBefore && !/^\s*\//.test(text)) {
      const isMessage = this.#answer(talk, text)
      if (!isMessage) return
    }
    if (text.trim() === "") return
    this.#keep(text)
    if (/^\/[a-z]+(\s|$)/.test(text.trim())) return this.#attempt(this.#command(talk, text.trim()))
    this.#attempt(
      talk.say(text, when).catch((error: unknown) => {
        // Words that did not arrive are not lost.
        if (this.editor.text === "") this.editor = editorOf(text)
        throw error
      }),
    )
  }

  #keep(text: string): void {
    this.#ports.history.add(text)
    this.editor = emptyEditor
    this.#begunBefore = false
  }

  /** Whether the words are a message after all. */
  #answer(talk: Talk, text: string): boolean {
    const decision = talk.readDecision(text)
    if (decision.type === "message") return true
    if (this.#deciding === idsOf(talk.waiting)) {
      this.hint = "Your answer is on its way."
      return false
    }
    this.editor = emptyEditor
    if (decision.type === "unclear") this.hint = decision.says
    else if (decision.type === "edit") {
      const { proposal } = decision
      this.#edit = { proposal, before: emptyEditor }
      this.editor = editorOf(JSON.stringify(proposal.arguments, null, 2))
    } else if (AGREES.has(decision.type) && !talk.card.isRead(talk.waiting)) {
      this.hint = "Read it to its end first: Space or PgDn."
    } else {
      this.#deciding = idsOf(talk.waiting)
      this.#attempt(talk.decide(decision).finally(() => (this.#deciding = undefined)))
    }
    return false
  }

  #sendEdit(proposal: Proposal, text: string): void {
    const given = readArguments(text)
    const { talk } = this
    if (typeof given === "string") this.hint = given
    if (typeof given === "string" || !talk) return
    const body = { arguments: given }
    // It is replaced before the answer is here: what it is replaced by is shown like any other.
    const edit = this.#edit
    this.#leaveEdit()
    this.#deciding = idsOf(talk.waiting)
    const send = talk.client.editProposal({ params: { id: proposal.id }, body }).catch((error: unknown) => {
      this.#edit = edit
      this.editor = editorOf(text)
      throw error
    })
    this.#attempt(send.finally(() => (this.#deciding = undefined)))
  }

  #leaveEdit(): void {
    this.editor = this.#edit?.before ?? emptyEditor
    this.#edit = undefined
  }

  async #command(talk: Talk, text: string): Promise<void> {
    const { runCommand } = await import("./commands.ts")
    const write = (words: string) => void (this.editor = editorOf(words))
    await runCommand(text, { talk, write, quit: this.#ports.quit })
  }

  #escape(): void {
    if (this.#edit) return this.#leaveEdit()
    const { talk } = this
    if (talk && (talk.isBusy || talk.waiting.length > 0)) return this.#attempt(talk.cancel())
    this.editor = emptyEditor
  }

  #interrupt(): void {
    if (Date.now() < this.#quitsUntil) return this.#ports.quit()
    if (this.#edit) this.#leaveEdit()
    else this.editor = emptyEditor
    this.#quitsUntil = Date.now() + QUIT_WITHIN_MS
    this.hint = QUITS
    setTimeout(() => this.#forget(QUITS), QUIT_WITHIN_MS).unref()
  }

  /** A hint that holds no longer. */
  #forget(hint: string): void {
    if (this.hint !== hint || Date.now() < this.#quitsUntil) return
    this.hint = ""
    this.#drawNow()
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
const idsOf = (waiting: readonly Proposal[]) => waiting.map(({ id }) => id).join()
const NOTHING: readonly Entry[] = []
