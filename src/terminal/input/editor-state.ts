import type { MessageFile } from "../../protocol/conversation/message-file.ts"

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
