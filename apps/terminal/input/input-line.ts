import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { MAX_BODY_BYTES } from "../../../core/protocol/requests.ts"
import { chatText } from "../../strings/chat.ts"
import { type Editor, editorOf, emptyEditor, insertFolded, unfoldedText } from "./folding.ts"
import { addFilesTo, concat, paste, toLine } from "./editor.ts"
import * as edit from "./editor.ts"
import type { InputHistory } from "./history.ts"
import type { Press } from "./keys.ts"

/** Bytes of a request besides its text. */
const REQUEST_OVERHEAD_BYTES = 1000
/** Every frame measures each character. */
const MAX_DRAWN = 10_000

/** The input line: the text that is being typed, and the history. */
export class InputLine {
  editor: Editor = emptyEditor
  readonly start = new DraftStart()
  readonly #history: InputHistory
  #draft: Editor = emptyEditor

  constructor(history: InputHistory) {
    this.#history = history
  }

  get isEmpty(): boolean {
    return this.editor.text === ""
  }

  get words(): string {
    return unfoldedText(this.editor)
  }

  paste(text: string): void {
    this.editor = paste(this.editor, text.replaceAll(/\r\n?/g, "\n"))
  }

  edit(press: Press): void {
    this.editor = editing(this.editor, press) ?? this.editor
  }

  /** Moves a line up or down, or through the history from the first or last line. */
  vertical(direction: -1 | 1, isMessage: boolean): void {
    const moved = toLine(this.editor, direction)
    if (moved) this.editor = moved
    if (moved || !isMessage) return
    const history = this.#history
    if (history.isAtDraft) this.#draft = this.editor
    const found = history.go(direction, this.editor.text)
    if (found !== undefined) this.editor = history.isAtDraft ? this.#draft : editorOf(found)
  }

  /** A backslash at the end continues the line. */
  continuesLine(): boolean {
    const { text, at } = this.editor
    if (!text.endsWith("\\") || at !== text.length) return false
    this.editor =
      editing(editing(this.editor, { type: "delete-left" }) ?? this.editor, { type: "newline" }) ?? this.editor
    return true
  }

  /** Why the text cannot be sent; undefined if it can. */
  get obstacle(): string | undefined {
    const bytes = Buffer.byteLength(JSON.stringify(this.words)) + REQUEST_OVERHEAD_BYTES
    if (bytes <= MAX_BODY_BYTES) return undefined
    return chatText.tooLong(bytes - MAX_BODY_BYTES)
  }

  /** Adds the text to the history and clears the line. */
  submit(): void {
    this.#history.add(this.words)
    this.clear()
  }

  clear(): void {
    this.editor = emptyEditor
    this.start.when = "same"
  }

  /** Puts a text into the line, to be edited and sent. */
  setText(words: string, files: Editor["files"] = []): void {
    this.editor = addFilesTo(words.length > MAX_DRAWN ? insertFolded(emptyEditor, words) : editorOf(words), files)
  }

  /** Returns a text to the line that was not sent, before what has been typed since. */
  restore(said: Editor): void {
    const { files } = this.editor
    this.editor = this.isEmpty ? addFilesTo({ ...said, at: said.text.length }, files) : concat(said, this.editor)
    this.start.when = "none"
  }
}

/** Applies a key to the text; undefined if the key does not edit. */
function editing(editor: Editor, press: Press): Editor | undefined {
  switch (press.type) {
    case "text":
      return edit.insert(editor, press.text)
    case "newline":
      return edit.insert(editor, "\n")
    case "left":
      return edit.toLeft(editor)
    case "right":
      return edit.toRight(editor)
    case "word-left":
      return edit.toWordLeft(editor)
    case "word-right":
      return edit.toWordRight(editor)
    case "line-start":
      return edit.toLineStart(editor)
    case "line-end":
      return edit.toLineEnd(editor)
    case "delete-left":
      return edit.withoutLastFile(editor) ?? edit.deleteLeft(editor)
    case "delete-right":
      return edit.deleteRight(editor)
    case "delete-word":
      return edit.deleteWord(editor)
    case "delete-to-start":
      return edit.deleteToLineStart(editor)
    case "delete-to-end":
      return edit.deleteToLineEnd(editor)
    default:
      return undefined
  }
}

/** `same`: the changes that wait now. `none`: none waited. `changed`: others waited then. */
type ChangesAtStart = "same" | "none" | "changed"

/** Which changes waited when the text was started: it can decide only those. */
class DraftStart {
  when: ChangesAtStart = "same"
  #waiting: readonly string[] = []

  /**
   * Called for each frame. A change at another position counts as another: after `yes 1` was started, the first one may
   * have been decided on another client.
   */
  onFrame(waiting: readonly Proposal[], words: string): void {
    const before = this.#waiting
    this.#waiting = waiting.map(({ id, hash }) => `${id} ${hash}`)
    if (words === "") this.when = "same"
    else if (before.length === 0 && waiting.length > 0) this.when = "none"
    else if (this.when === "same" && this.#waiting.some((each, place) => each !== before[place])) this.when = "changed"
  }
}
