import type { ReadStream, WriteStream } from "node:tty"
import { render } from "ink"
import { createElement } from "react"
import type { Reflow } from "../terminal-server.ts"
import { lineWidth } from "../wrap.ts"
import { ERASE_BELOW, erasingQuietly } from "./erase-below.ts"
import type { ScreenFrame } from "./frame.ts"
import { Screen } from "./screen.ts"
import type { Terminal } from "./terminal.ts"

export interface Shown {
  /** Leaves the screen as it is and gives the keyboard back. */
  leave(): void
  readonly left: Promise<unknown>
}

/** Draws a terminal's state, and brings it the keys. */
export function showScreen(terminal: Terminal, stdin: ReadStream, stdout: WriteStream): Shown {
  // Node knows what NO_COLOR, FORCE_COLOR and TERM=dumb say about this stream.
  const colour = stdout.getColorDepth() > 1
  let { columns } = stdout
  // What is on the screen, which Ink draws some time after it was made.
  let shown: ScreenFrame | undefined
  // Before Ink, which is told next and erases what it has drawn.
  const narrowed = () => {
    const { talk } = terminal
    if (shown && talk && stdout.columns < columns) eraseReflowed(shown, stdout, talk.reached.reflow)
    columns = stdout.columns
  }
  stdout.on("resize", narrowed)
  const instance = render(createElement(Screen, { terminal, colour }), {
    stdin,
    stdout: erasingQuietly(stdout),
    exitOnCtrlC: false,
    patchConsole: false,
    incrementalRendering: true,
    onRender: () => void (shown = terminal.drawn),
    // A terminal is a terminal, also where somebody runs it in CI.
    interactive: true,
  })
  const left = instance.waitUntilExit().finally(() => stdout.off("resize", narrowed))
  return { leave: () => instance.unmount(), left }
}

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
  stdout.write(`\r${upBy(up)}${ERASE_BELOW}${down}${upBy(back)}`)
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)
const upBy = (rows: number) => (rows > 0 ? `\x1b[${rows}A` : "")
