import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { MAX_BODY_BYTES } from "../../../core/protocol/requests.ts"
import { chatText } from "../../strings/chat.ts"
import { type Editor, editorOf, emptyEditor, insertFolded, unfoldedText } from "./folding.ts"
import { addFilesTo, appended, paste, toLine } from "./editor.ts"
import * as edit from "./editor.ts"
import type { InputHistory } from "./history.ts"
import type { Press } from "./keys.ts"

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
    return chatText.tooLong(bytes - MAX_BODY_BYTES)
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

/** What a key does to what is being written; undefined where it has nothing to do with that. */
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

/** `here`: under what waits now. `before`: when nothing waited. `under-others`: what waited then is not what waits now. */
type Begun = "here" | "before" | "under-others"

/** When the words in the editor were begun: they can only answer what was on the screen then. */
class WordsBegun {
  when: Begun = "here"
  #waiting: readonly string[] = []

  /**
   * What is drawn now. Whatever stands in another place counts as another: after `yes 1` was begun the first may have been
   * decided elsewhere, and within one picture all of it may have been replaced.
   */
  draws(waiting: readonly Proposal[], words: string): void {
    const before = this.#waiting
    this.#waiting = waiting.map(({ id, hash }) => `${id} ${hash}`)
    if (words === "") this.when = "here"
    else if (before.length === 0 && waiting.length > 0) this.when = "before"
    else if (this.when === "here" && this.#waiting.some((each, place) => each !== before[place]))
      this.when = "under-others"
  }
}
