import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { chatText } from "../../strings/chat.ts"

/** Longer text is drawn as a placeholder with its length: the input line is too small to read it. */
const MAX_LINES = 20
const MAX_CHARACTERS = 2000

/**
 * Private-use characters. In the text of an editor each stands for one folded text, so that moving and deleting treat
 * it as one character.
 */
const FIRST_MARK = 0x10f000
const MARKS = 0xf00
const MARK = /[\u{10F000}-\u{10FEFF}]/gu
export const SPLIT_AT_MARKS = /([\u{10F000}-\u{10FEFF}])/u

export const isLong = (text: string): boolean =>
  text.length > MAX_CHARACTERS || text.split("\n", MAX_LINES + 2).length > MAX_LINES + 1

/** Inserts a text as one mark; as the text itself if all marks are used. */
export function insertFolded({ text, at, folded, ...rest }: Editor, added: string): Editor {
  const mark = freeMark(text)
  const setText = mark ?? added
  return {
    ...rest,
    text: text.slice(0, at) + setText + text.slice(at),
    at: at + setText.length,
    ...(mark ? { folded: new Map([...(folded ?? []), [mark, added]]) } : folded ? { folded } : {}),
  }
}

/** Whether the text contains a character that is used as a mark. */
export const isMistakable = (added: string, { folded }: Editor): boolean =>
  folded !== undefined && [...folded.keys()].some((mark) => added.includes(mark))

/** The text with all folded texts in place of their marks. */
export function unfoldedText({ text, folded }: Editor): string {
  return folded ? text.replaceAll(MARK, (mark) => folded.get(mark) ?? mark) : text
}

/** The placeholder of a mark; undefined for any other character. */
export function foldedPlaceholder(character: string, { folded }: Editor): string | undefined {
  const folded_ = folded?.get(character)
  if (folded_ === undefined) return undefined
  const lines = folded_.split("\n").length
  return chatText.pasted(lines, folded_.length)
}

function freeMark(text: string): string | undefined {
  for (let index = 0; index < MARKS; index++) {
    const mark = String.fromCodePoint(FIRST_MARK + index)
    if (!text.includes(mark)) return mark
  }
  return undefined
}

/** The text that a person types, and the cursor. Immutable. */
export interface Editor {
  readonly text: string
  /** The index of the character after the cursor. */
  readonly at: number
  /** The folded texts by their marks. */
  readonly folded?: ReadonlyMap<string, string>
  /** Attached files without an `@path` in the text. */
  readonly files?: readonly MessageFile[]
}

export const emptyEditor: Editor = { text: "", at: 0 }
export const editorOf = (text: string, files: Editor["files"] = []): Editor => ({
  ...{ text, at: text.length },
  ...(files.length > 0 ? { files } : {}),
})
