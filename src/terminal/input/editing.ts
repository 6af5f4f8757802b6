import * as edit from "./editor.ts"
import type { Editor } from "./editor-state.ts"
import type { Press } from "./keys.ts"

/** What a key does to what is being written; undefined where it has nothing to do with that. */
export function editing(editor: Editor, press: Press): Editor | undefined {
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
