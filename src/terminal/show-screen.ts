import { render } from "ink"
import type { ReadStream, WriteStream } from "node:tty"
import { createElement } from "react"
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
  const instance = render(createElement(Screen, { terminal, colour }), {
    stdin,
    stdout,
    exitOnCtrlC: false,
    patchConsole: false,
    incrementalRendering: true,
    // A terminal is a terminal, also where somebody runs it in CI.
    interactive: true,
  })
  return { leave: () => instance.unmount(), left: instance.waitUntilExit() }
}
