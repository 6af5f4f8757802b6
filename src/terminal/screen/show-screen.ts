import { render } from "ink"
import type { ReadStream, WriteStream } from "node:tty"
import { createElement } from "react"
import { eraseReflowed } from "./erase-reflowed.ts"
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
    stdout,
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
