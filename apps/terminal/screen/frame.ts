import type { Editor } from "../input/folding.ts"
import { editorLines } from "../input/editor-lines.ts"
import { DIM, type Line, type Room, line } from "../line.ts"
import { printable } from "../printable.ts"
import { clip, wrap } from "../wrap.ts"

/** The part of the screen that is redrawn, and the position of the cursor in it. */
export interface ScreenFrame {
  readonly lines: readonly Line[]
  readonly cursor: { readonly x: number; readonly y: number }
}

export interface FrameParts {
  readonly editor: Editor
  /** `question` is shown until it is answered, `hint` until the next key; empty for none. */
  readonly question: string
  readonly hint: string
  readonly status: readonly string[]
  /** Lines below the input. */
  readonly below: readonly Line[]
  /** Lines above the input, as many as fit. */
  body(room: Room): readonly Line[]
}

const MAX_EDITOR_ROWS = 8
const PROMPT = "> "

/**
 * Everything below the scrollback. It is never as high as the screen, because Ink would then clear the screen each
 * time. In a window of a few rows the empty line is dropped first, then the status: question and input stay. If only
 * one of hint and question fits, it is the hint.
 */
export function layoutFrame(
  { editor, question, hint, status, below, body }: FrameParts,
  { columns, rows }: Room,
): ScreenFrame {
  const room = Math.max(1, rows - 1)
  const editorRows = Math.max(1, Math.min(MAX_EDITOR_ROWS, Math.floor(room / 3)))
  const written = editorLines(editor, PROMPT, { columns, rows: editorRows })
  const asked = question === "" ? [] : wrap(line(printable(question), { colour: "yellow" }), columns)
  const told = hint === "" ? [] : wrap(line(printable(hint), DIM), columns)
  const most = Math.min(Math.max(1, room - written.lines.length - 2), room - written.lines.length)
  const foot = (asked.length + told.length > most ? [...told, ...asked] : [...asked, ...told]).slice(0, most)
  const beside = room - written.lines.length - foot.length
  const under = below.slice(0, Math.max(0, beside - 2))
  const spare = beside - under.length
  // At least one line of the change and the line that says there is more must be visible, or it cannot be decided.
  const isTight = question !== "" && spare >= 2 && spare < 4
  const last = beside > 0 && !isTight ? [clip(line(printable(status.join(" · ")), DIM), columns)] : []
  const left = isTight ? spare : spare - 2
  const gap = beside > 1 && !isTight ? [[]] : []
  // Called even without room: the card has to know that it is not visible.
  const drawn = body({ columns, rows: Math.max(0, left) })
  const above: Line[] = [...(left > 0 ? drawn : []), ...gap, ...foot]
  const cursor = { x: written.cursor.x, y: above.length + written.cursor.y }
  return { lines: [...above, ...written.lines, ...under, ...last], cursor }
}
