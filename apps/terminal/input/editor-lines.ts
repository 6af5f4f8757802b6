import { type Editor, foldedPlaceholder } from "./folding.ts"
import { type Line, span } from "../line.ts"
import { printable } from "../printable.ts"
import { graphemesOf, widthOf } from "../wrap.ts"

export interface DrawnEditor {
  readonly lines: readonly Line[]
  readonly cursor: { readonly x: number; readonly y: number }
}

/** The edited text, wrapped at the width of the screen, with the rows around the cursor that fit. */
export function editorLines(editor: Editor, prompt: string, room: { columns: number; rows: number }): DrawnEditor {
  const { text, at } = editor
  const indent = widthOf(prompt)
  // One column stays free for the cursor after the last character.
  const width = Math.max(1, room.columns - indent - 1)
  const rows: string[] = [""]
  let cursor = { x: 0, y: 0 }
  let used = 0
  let place = 0
  const mark = () => {
    if (place === at) cursor = { x: used, y: rows.length - 1 }
  }
  for (const grapheme of graphemesOf(text)) {
    mark()
    place += grapheme.length
    if (grapheme === "\n" || grapheme === "\r\n") {
      rows.push("")
      used = 0
      continue
    }
    const drawn = foldedPlaceholder(grapheme, editor)?.slice(0, width) ?? printable(grapheme)
    const wide = widthOf(drawn)
    if (used + wide > width) {
      rows.push("")
      used = 0
      if (place - grapheme.length === at) cursor = { x: 0, y: rows.length - 1 }
    }
    rows[rows.length - 1] += drawn
    used += wide
  }
  mark()
  const from = Math.max(0, Math.min(cursor.y - Math.floor(room.rows / 2), rows.length - room.rows))
  const shown = rows.slice(from, from + room.rows)
  const lines = shown.map((each, index): Line => {
    const head = index === 0 && from === 0 ? prompt : " ".repeat(indent)
    return each === "" ? [span(head, { colour: "cyan" })] : [span(head, { colour: "cyan" }), span(each)]
  })
  return { lines, cursor: { x: indent + cursor.x, y: cursor.y - from } }
}
