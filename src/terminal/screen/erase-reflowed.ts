import type { WriteStream } from "node:tty"
import type { ScreenFrame } from "./frame.ts"
import type { Reflow } from "../terminal-server.ts"
import { lineWidth } from "../wrap.ts"

/**
 * Takes a frame off a screen that has become narrower. Terminals break the lines that no longer fit, so the frame is
 * higher than it was drawn, and whoever erases it by its number of lines leaves its upper ones standing. The cursor keeps its
 * place in its line: from there the first line of the frame is as far up as the lines between are high now.
 *
 * At the end the cursor is where it would be, had nothing been broken: Ink, which comes next, erases by numbers.
 */
export function eraseReflowed(
  { lines, cursor }: ScreenFrame,
  stdout: Pick<WriteStream, "columns" | "write">,
  reflow: Reflow,
): void {
  const { columns } = stdout
  // Where it cuts Ink counts right; some say that they have no columns at all while they are out of sight.
  if (reflow === "cuts" || !(columns > 0)) return
  const rows = lines.map((each) => Math.max(1, Math.ceil(lineWidth(each) / columns)))
  const [above, below] = [sum(rows.slice(0, cursor.y)), sum(rows.slice(cursor.y)) - (lines.length - cursor.y)]
  const up = above + (reflow === "breaks-and-shifts" ? below : Math.floor(cursor.x / columns))
  // Line feeds, because they make room at the end of the screen where moving down would stop.
  const down = "\n".repeat(Math.max(0, lines.length - 1))
  const back = lines.length - 1 - cursor.y
  stdout.write(`\r${upBy(up)}\x1b[J${down}${upBy(back)}`)
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)
const upBy = (rows: number) => (rows > 0 ? `\x1b[${rows}A` : "")
