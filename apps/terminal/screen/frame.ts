import type { Editor } from "../input/folding.ts"
import { editorLines } from "../input/editor-lines.ts"
import { DIM, type Line, type Room, line } from "../line.ts"
import { toShown } from "../shown.ts"
import { clip, wrap } from "../wrap.ts"

/** What is drawn anew: lines, and where the cursor stands in them. */
export interface ScreenFrame {
  readonly lines: readonly Line[]
  readonly cursor: { readonly x: number; readonly y: number }
}

export interface Framed {
  readonly editor: Editor
  /** What the person is asked, and what they are told in passing; empty for nothing. */
  readonly question: string
  readonly hint: string
  readonly status: readonly string[]
  /** What stands below what is written. */
  readonly below: readonly Line[]
  /** What stands above, in as many lines as there is room for. */
  body(room: Room): readonly Line[]
}

const MAX_EDITOR_ROWS = 8
const PROMPT = "> "

/**
 * Everything below the scrollback. Never as high as the screen: Ink would have to clear all of it each time. In a window of a
 * few rows the empty line goes first, then the state: what is asked and what is written stay. What is told in passing takes
 * the place of what is asked where there is room for one of them, until the next key.
 */
export function toFrame({ editor, question, hint, status, below, body }: Framed, { columns, rows }: Room): ScreenFrame {
  const room = Math.max(1, rows - 1)
  const editorRows = Math.max(1, Math.min(MAX_EDITOR_ROWS, Math.floor(room / 3)))
  const written = editorLines(editor, PROMPT, { columns, rows: editorRows })
  const asked = question === "" ? [] : wrap(line(toShown(question), { colour: "yellow" }), columns)
  const told = hint === "" ? [] : wrap(line(toShown(hint), DIM), columns)
  const most = Math.min(Math.max(1, room - written.lines.length - 2), room - written.lines.length)
  const foot = (asked.length + told.length > most ? [...told, ...asked] : [...asked, ...told]).slice(0, most)
  const beside = room - written.lines.length - foot.length
  const under = below.slice(0, Math.max(0, beside - 2))
  const spare = beside - under.length
  // Of what is asked about at least a line has to be seen, and where it goes on: nobody could answer otherwise.
  const isTight = question !== "" && spare >= 2 && spare < 4
  const last = beside > 0 && !isTight ? [clip(line(toShown(status.join(" · ")), DIM), columns)] : []
  const left = isTight ? spare : spare - 2
  const gap = beside > 1 && !isTight ? [[]] : []
  // Also where there is no room for it: what waits has to know that nobody sees it.
  const drawn = body({ columns, rows: Math.max(0, left) })
  const above: Line[] = [...(left > 0 ? drawn : []), ...gap, ...foot]
  const cursor = { x: written.cursor.x, y: above.length + written.cursor.y }
  return { lines: [...above, ...written.lines, ...under, ...last], cursor }
}
