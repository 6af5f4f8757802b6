import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { chatText } from "../../strings/chat.ts"

/** What is longer is drawn as one word that says how long it is: nobody reads it on their own line. */
const MAX_LINES = 20
const MAX_CHARACTERS = 2000

/** In the text of an editor one of these stands for each text that is folded: a character to whoever moves or deletes. */
const FIRST_MARK = 0x10f000
const MARKS = 0xf00
const MARK = /[\u{10F000}-\u{10FEFF}]/gu
export const SPLIT_AT_MARKS = /([\u{10F000}-\u{10FEFF}])/u

export const isLong = (text: string): boolean =>
  text.length > MAX_CHARACTERS || text.split("\n", MAX_LINES + 2).length > MAX_LINES + 1

/** The text at the cursor as one mark; the text itself where there are more marks than anybody pastes. */
export function insertFolded({ text, at, folded, ...rest }: Editor, added: string): Editor {
  const mark = freeMark(text)
  const put = mark ?? added
  return {
    ...rest,
    text: text.slice(0, at) + put + text.slice(at),
    at: at + put.length,
    ...(mark ? { folded: new Map([...(folded ?? []), [mark, added]]) } : folded ? { folded } : {}),
  }
}

/** Whether it would be taken for something that is folded. */
export const isMistakable = (added: string, { folded }: Editor): boolean =>
  folded !== undefined && [...folded.keys()].some((mark) => added.includes(mark))

/** All that is written, with what is folded in its place. */
export function unfoldedText({ text, folded }: Editor): string {
  return folded ? text.replaceAll(MARK, (mark) => folded.get(mark) ?? mark) : text
}

/** What is drawn in the place of a character that stands for more; undefined for any other. */
export function foldedWords(character: string, { folded }: Editor): string | undefined {
  const behind = folded?.get(character)
  if (behind === undefined) return undefined
  const lines = behind.split("\n").length
  return chatText.pasted(lines, behind.length)
}

function freeMark(text: string): string | undefined {
  for (let index = 0; index < MARKS; index++) {
    const mark = String.fromCodePoint(FIRST_MARK + index)
    if (!text.includes(mark)) return mark
  }
  return undefined
}

/** What a person is writing, and where in it they are. Never changed in place. */
export interface Editor {
  readonly text: string
  /** Before which character the cursor stands. */
  readonly at: number
  /** What is too long to be drawn, by the character that stands for it in the text. */
  readonly folded?: ReadonlyMap<string, string>
  /** What goes along without being named: pasted, or come back with words that were taken back. */
  readonly files?: readonly MessageFile[]
}

export const emptyEditor: Editor = { text: "", at: 0 }
export const editorOf = (text: string, files: Editor["files"] = []): Editor => ({
  ...{ text, at: text.length },
  ...(files.length > 0 ? { files } : {}),
})
