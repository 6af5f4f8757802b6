import type { ReadStream, WriteStream } from "node:tty"
import { render } from "ink"
import { createElement } from "react"
import type { Reflow } from "../terminal-server.ts"
import { lineWidth } from "../wrap.ts"
import { ERASE_BELOW, erasingForTmux } from "./erase-below.ts"
import type { ScreenFrame } from "./frame.ts"
import { Screen } from "./screen.ts"
import type { Terminal } from "./terminal.ts"

export interface Shown {
  /** Leaves the screen as it is and releases the keyboard. */
  leave(): void
  readonly left: Promise<unknown>
}

/** Renders a terminal and passes it the keys. */
export function showScreen(terminal: Terminal, stdin: ReadStream, stdout: WriteStream): Shown {
  // Node evaluates NO_COLOR, FORCE_COLOR and TERM=dumb for this stream.
  const colour = stdout.getColorDepth() > 1
  let { columns } = stdout
  // The frame on the screen: Ink draws a frame some time after it was created.
  let shown: ScreenFrame | undefined
  // Registered before Ink's own listener, which erases what it has drawn.
  const narrowed = () => {
    const { session } = terminal
    if (shown && session && stdout.columns < columns) eraseReflowed(shown, stdout, session.server.reflow)
    columns = stdout.columns
  }
  stdout.on("resize", narrowed)
  const instance = render(createElement(Screen, { terminal, colour }), {
    stdin,
    stdout: erasingForTmux(stdout),
    exitOnCtrlC: false,
    patchConsole: false,
    incrementalRendering: true,
    onRender: () => void (shown = terminal.drawn),
    // Interactive also in CI.
    interactive: true,
  })
  const left = instance.waitUntilExit().finally(() => stdout.off("resize", narrowed))
  return { leave: () => instance.unmount(), left }
}

/**
 * Erases a frame from a screen that has become narrower. Most terminals wrap the lines that no longer fit, so the frame
 * is now higher than when it was drawn, and erasing by its number of lines would leave the upper ones. The cursor keeps
 * its position in its line: from there the first line is as far up as the wrapped lines between are high.
 *
 * At the end the cursor is where it would be without wrapping, because Ink then erases by number of lines.
 */
export function eraseReflowed(
  { lines, cursor }: ScreenFrame,
  stdout: Pick<WriteStream, "columns" | "write">,
  reflow: Reflow,
): void {
  const { columns } = stdout
  // If the terminal cuts lines, Ink counts right. Some terminals report zero columns while they are hidden.
  if (reflow === "cuts" || !(columns > 0)) return
  const rows = lines.map((each) => Math.max(1, Math.ceil(lineWidth(each) / columns)))
  const [above, below] = [sum(rows.slice(0, cursor.y)), sum(rows.slice(cursor.y)) - (lines.length - cursor.y)]
  const up = above + (reflow === "breaks-and-shifts" ? below : Math.floor(cursor.x / columns))
  // Line feeds scroll at the end of the screen, where moving down would stop.
  const down = "\n".repeat(Math.max(0, lines.length - 1))
  const back = lines.length - 1 - cursor.y
  stdout.write(`\r${upBy(up)}${ERASE_BELOW}${down}${upBy(back)}`)
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)
const upBy = (rows: number) => (rows > 0 ? `\x1b[${rows}A` : "")
