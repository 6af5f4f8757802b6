import { type Editor, SPLIT_AT_MARKS, insertFolded, isLong, isMistakable } from "./folding.ts"
import { graphemesOf } from "../wrap.ts"

export function insert(editor: Editor, added: string): Editor {
  if (isMistakable(added, editor)) return insertFolded(editor, added)
  const { text, at } = editor
  return { ...editor, text: text.slice(0, at) + added + text.slice(at), at: at + added.length }
}

/** Long text is inserted folded. */
export const paste = (editor: Editor, added: string): Editor =>
  isLong(added) ? insertFolded(editor, added) : insert(editor, added)

/** Joins two texts, with their folded texts and files. */
export function concat(first: Editor, { text, folded, files }: Editor): Editor {
  const end: Editor = { ...addFilesTo(first, files), text: `${first.text}\n`, at: first.text.length + 1 }
  // The same mark may stand for different texts in the two editors.
  return text.split(SPLIT_AT_MARKS).reduce((editor, part) => {
    const folded_ = folded?.get(part)
    return folded_ === undefined ? insert(editor, part) : insertFolded(editor, folded_)
  }, end)
}

export function addFilesTo(editor: Editor, more: Editor["files"] = []): Editor {
  const files = new Map([...(editor.files ?? []), ...more].map((file) => [file.id, file]))
  return files.size === 0 ? editor : { ...editor, files: [...files.values()] }
}

/** Removes the last file. Undefined without a file, or if there is a character to delete. */
export function withoutLastFile({ files, ...editor }: Editor): Editor | undefined {
  if (editor.at > 0 || !files) return undefined
  return files.length > 1 ? { ...editor, files: files.slice(0, -1) } : editor
}

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

/** One line up or down in the same column; undefined at the first or last line. */
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
  // A grapheme may have several code points; 64 are enough for all real ones.
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
