import { Static, useCursor, useInput, usePaste, useWindowSize } from "ink"
import { createElement, Fragment, type ReactNode, useSyncExternalStore } from "react"
import { toPresses } from "../input/keys.ts"
import { Lines } from "./lines.ts"
import type { ScrollbackEntry } from "../drawing/scrollback.ts"
import type { Terminal } from "./terminal.ts"
import { useHandOver } from "./use-hand-over.ts"

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
