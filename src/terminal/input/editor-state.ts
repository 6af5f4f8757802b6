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
