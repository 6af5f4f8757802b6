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

/** What is final goes up into the terminal's own scrollback, once; the rest is drawn anew below it. */
export function Screen({ terminal, colour }: ScreenProps): ReactNode {
  useSyncExternalStore(terminal.subscribe, () => terminal.version)
  const { suspend, redraw } = useHandOver(terminal)
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

interface HandOver {
  suspend(): void
  redraw(): void
}

/**
 * Gives the screen and the keyboard away for a moment, and draws all of it anew afterwards: for the shell, at Ctrl-Z, and for
 * nobody, at Ctrl-L.
 */
function useHandOver(terminal: Terminal): HandOver {
  const { suspendTerminal } = useApp()
  const { stdout } = useStdout()
  const handOver = useMemo((): HandOver => {
    // Ink throws away what is drawn meanwhile: at the end of a turn of the event loop nothing is.
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
    // `kill -TSTP` is the key, pressed elsewhere.
    process.on("SIGTSTP", handOver.suspend)
    return () => void process.off("SIGTSTP", handOver.suspend)
  }, [handOver])
  return handOver
}

/**
 * Stops all that the shell has started as this job, as the key does where the terminal itself handles it. The call comes back
 * when the shell lets it go on; where there is no shell that could, at once.
 */
function stopJob(listener: () => void): void {
  if (process.platform === "win32") return
  process.off("SIGTSTP", listener)
  process.kill(0, "SIGTSTP")
  process.on("SIGTSTP", listener)
}
