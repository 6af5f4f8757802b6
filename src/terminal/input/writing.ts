import { count } from "../../client/words.ts"
import { MAX_BODY_BYTES } from "../../protocol/requests.ts"
import { editing } from "./editing.ts"
import { paste, toLine, addFilesTo } from "./editor.ts"
import { type Editor, editorOf, emptyEditor } from "./editor-state.ts"
import { insertFolded, unfoldedText } from "./folding.ts"
import { appended } from "./editor.ts"
import type { InputHistory } from "./history.ts"
import type { Press } from "./keys.ts"
import { WordsBegun } from "./words-begun.ts"

/** What a message is sent with: a few settings of its own. */
const BESIDE_BYTES = 1000
/** Each letter is looked at with each picture. */
const MAX_DRAWN = 10_000

/** What a person is writing, and what they have written before. */
export class Writing {
  editor: Editor = emptyEditor
  readonly begun = new WordsBegun()
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

  /** A line up or down; behind the last one, what was written before. */
  vertical(direction: -1 | 1, isMessage: boolean): void {
    const moved = toLine(this.editor, direction)
    if (moved) this.editor = moved
    if (moved || !isMessage) return
    const history = this.#history
    if (history.isAtDraft) this.#draft = this.editor
    const found = history.go(direction, this.editor.text)
    if (found !== undefined) this.editor = history.isAtDraft ? this.#draft : editorOf(found)
  }

  /** A backslash at the end is a line that goes on. */
  continuesLine(): boolean {
    const { text, at } = this.editor
    if (!text.endsWith("\\") || at !== text.length) return false
    this.editor =
      editing(editing(this.editor, { type: "delete-left" }) ?? this.editor, { type: "newline" }) ?? this.editor
    return true
  }

  /** Why it cannot be sent; undefined where it can. */
  get obstacle(): string | undefined {
    const bytes = Buffer.byteLength(JSON.stringify(this.words)) + BESIDE_BYTES
    if (bytes <= MAX_BODY_BYTES) return undefined
    const over = count(bytes - MAX_BODY_BYTES, "byte")
    return `It is not sent: it is ${over} longer than the server takes. Shorten it, or put it into a file.`
  }

  /** It is on its way: kept for later, and off the line. */
  keep(): void {
    this.#history.add(this.words)
    this.clear()
  }

  clear(): void {
    this.editor = emptyEditor
    this.begun.when = "here"
  }

  /** Words to be changed and sent. */
  put(words: string, files: Editor["files"] = []): void {
    this.editor = addFilesTo(words.length > MAX_DRAWN ? insertFolded(emptyEditor, words) : editorOf(words), files)
  }

  /** Words that were no answer, and are none to what has come up since; before whatever is written by now. */
  giveBack(said: Editor): void {
    const { files } = this.editor
    this.editor = this.isEmpty ? addFilesTo({ ...said, at: said.text.length }, files) : appended(said, this.editor)
    this.begun.when = "before"
  }
}
