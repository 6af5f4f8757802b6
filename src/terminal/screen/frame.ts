import type { Editor } from "../input/editor-state.ts"
import { editorLines } from "../input/editor-lines.ts"
import { DIM, type Line, line } from "../line.ts"
import type { Room } from "../room.ts"
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
 * few rows the empty line goes first, then the state: what is asked and what is written stay.
 */
export function toFrame({ editor, question, hint, status, below, body }: Framed, { columns, rows }: Room): ScreenFrame {
  const room = Math.max(1, rows - 1)
  const editorRows = Math.max(1, Math.min(MAX_EDITOR_ROWS, Math.floor(room / 3)))
  const written = editorLines(editor, PROMPT, { columns, rows: editorRows })
  const asked = [line(toShown(question), { colour: "yellow" }), line(toShown(hint), DIM)]
  const foot = asked
    .filter((each) => each.length > 0)
    .flatMap((each) => wrap(each, columns))
    .slice(0, Math.min(Math.max(1, room - written.lines.length - 2), room - written.lines.length))
  const beside = room - written.lines.length - foot.length
  const under = below.slice(0, Math.max(0, beside - 2))
  const last = beside > 0 ? [clip(line(toShown(status.join(" · ")), DIM), columns)] : []
  const left = beside - under.length - 2
  const above: Line[] = [...(left > 0 ? body({ columns, rows: left }) : []), ...(beside > 1 ? [[]] : []), ...foot]
  const cursor = { x: written.cursor.x, y: above.length + written.cursor.y }
  return { lines: [...above, ...written.lines, ...under, ...last], cursor }
}
