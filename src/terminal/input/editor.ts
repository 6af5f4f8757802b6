import { insertFolded, isLong, isMistakable } from "./folding.ts"
import { graphemesOf } from "../text-width.ts"

/** What a person is writing, and where in it they are. Never changed in place. */
export interface Editor {
  readonly text: string
  /** Before which character the cursor stands. */
  readonly at: number
  /** What is too long to be drawn, by the character that stands for it in the text. */
  readonly folded?: ReadonlyMap<string, string>
}

export const emptyEditor: Editor = { text: "", at: 0 }
export const editorOf = (text: string): Editor => ({ text, at: text.length })

export function insert(editor: Editor, added: string): Editor {
  if (isMistakable(added, editor)) return insertFolded(editor, added)
  const { text, at } = editor
  return { ...editor, text: text.slice(0, at) + added + text.slice(at), at: at + added.length }
}

/** All of it, however long it is. */
export const paste = (editor: Editor, added: string): Editor =>
  isLong(added) ? insertFolded(editor, added) : insert(editor, added)

export const toLeft = (editor: Editor): Editor => ({ ...editor, at: before(editor) })
export const toRight = (editor: Editor): Editor => ({ ...editor, at: after(editor) })
export const toWordLeft = (editor: Editor): Editor => ({ ...editor, at: wordBefore(editor) })
export const toWordRight = (editor: Editor): Editor => {
  const { text, at } = editor
  const found = /^\s*\S+/.exec(text.slice(at))
  return { ...editor, at: found ? at + found[0].length : text.length }
}
export const toLineStart = (editor: Editor): Editor => ({ ...editor, at: lineStart(editor) })
export const toLineEnd = (editor: Editor): Editor => ({ ...editor, at: lineEnd(editor) })

export const deleteLeft = (editor: Editor): Editor => cut(editor, before(editor), editor.at)
export const deleteRight = (editor: Editor): Editor => cut(editor, editor.at, after(editor))
export const deleteWord = (editor: Editor): Editor => cut(editor, wordBefore(editor), editor.at)
export const deleteToLineStart = (editor: Editor): Editor => cut(editor, lineStart(editor), editor.at)
export const deleteToLineEnd = (editor: Editor): Editor => cut(editor, editor.at, lineEnd(editor))

/** One line up or down, as far along as before; undefined where there is none. */
export function toLine(editor: Editor, direction: -1 | 1): Editor | undefined {
  const start = lineStart(editor)
  const along = editor.at - start
  if (direction === -1) {
    if (start === 0) return undefined
    const above = lineStart({ ...editor, at: start - 1 })
    return { ...editor, at: Math.min(above + along, start - 1) }
  }
  const end = lineEnd(editor)
  if (end === editor.text.length) return undefined
  const below = end + 1
  return { ...editor, at: Math.min(below + along, lineEnd({ ...editor, at: below })) }
}

function before({ text, at }: Editor): number {
  // A character of several parts is one to a person; none is longer than this but for the sake of it.
  const near = text.slice(Math.max(0, at - 64), at)
  return at - (graphemesOf(near).at(-1)?.length ?? 0)
}

const after = ({ text, at }: Editor): number => at + (graphemesOf(text.slice(at, at + 64))[0]?.length ?? 0)
function wordBefore({ text, at }: Editor): number {
  let from = text.slice(0, at).trimEnd().length
  while (from > 0 && /\S/.test(text[from - 1] ?? "")) from--
  return from
}
const lineStart = ({ text, at }: Editor): number => (at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1)
const cut = (editor: Editor, from: number, to: number): Editor => ({
  ...editor,
  text: editor.text.slice(0, from) + editor.text.slice(to),
  at: from,
})

function lineEnd({ text, at }: Editor): number {
  const end = text.indexOf("\n", at)
  return end === -1 ? text.length : end
}
