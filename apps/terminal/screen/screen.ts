import { Static, useApp, useCursor, useInput, usePaste, useStdout, useWindowSize } from "ink"
import { Fragment, type ReactNode, createElement, useEffect, useMemo, useSyncExternalStore } from "react"
import type { ScrollbackEntry } from "../drawing/scrollback.ts"
import { toPresses } from "../input/keys.ts"
import { Lines } from "./lines.ts"
import type { Terminal } from "./terminal.ts"

interface ScreenProps {
  readonly terminal: Terminal
  readonly colour: boolean
}

/** Final lines go into the terminal's own scrollback once; the rest is redrawn below it. */
export function Screen({ terminal, colour }: ScreenProps): ReactNode {
  useSyncExternalStore(terminal.subscribe, () => terminal.version)
  const { suspend, redraw } = useSuspend(terminal)
  useInput((input, key) => {
    for (const press of toPresses(input, key)) {
      if (press.type === "suspend") suspend()
      else if (press.type === "redraw") redraw()
      else terminal.press(press)
    }
  })
  usePaste((text) => terminal.paste(text))
  const { lines, cursor } = terminal.frame(useWindowSize())
  useCursor().setCursorPosition(cursor)
  const draw = ({ key, lines: printed }: ScrollbackEntry) =>
    createElement(Lines, { key, lines: printed, colour, breaks: true })
  return createElement(
    Fragment,
    null,
    createElement(Static<ScrollbackEntry>, { items: terminal.entries as ScrollbackEntry[], children: draw }),
    createElement(Lines, { lines, colour }),
  )
}

const CLEAR = "\x1b[H\x1b[J"

interface Suspend {
  suspend(): void
  redraw(): void
}

/**
 * Releases the screen and the keyboard and redraws everything afterwards: Ctrl-Z suspends, Ctrl-L clears the screen.
 */
function useSuspend(terminal: Terminal): Suspend {
  const { suspendTerminal } = useApp()
  const { stdout } = useStdout()
  const suspension = useMemo((): Suspend => {
    // Ink discards what is drawn while it is suspended; at the end of an event loop turn nothing is being drawn.
    const during = (work: () => void, then: () => void) =>
      void setImmediate(() => {
        suspendTerminal(work).then(then, () => {})
      })
    const suspend = () =>
      during(
        () => stopJob(suspend),
        () => terminal.changed(),
      )
    const redraw = () =>
      during(
        () => void stdout.write(CLEAR),
        () => terminal.redraw(),
      )
    return { suspend, redraw }
  }, [terminal, suspendTerminal, stdout])
  useEffect(() => {
    // `kill -TSTP` does the same as the key.
    process.on("SIGTSTP", suspension.suspend)
    return () => void process.off("SIGTSTP", suspension.suspend)
  }, [suspension])
  return suspension
}

/**
 * Stops the whole job, as the key does if the terminal handles it. Returns when the shell continues the job; at once
 * without a shell.
 */
function stopJob(listener: () => void): void {
  if (process.platform === "win32") return
  process.off("SIGTSTP", listener)
  process.kill(0, "SIGTSTP")
  process.on("SIGTSTP", listener)
}
