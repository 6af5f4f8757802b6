import { Box, Text, type TextProps } from "ink"
import { createElement, memo, type ReactNode } from "react"
import type { Line, Style } from "../line.ts"
import { printable } from "../printable.ts"

interface LinesProps {
  readonly lines: readonly Line[]
  readonly colour: boolean
  /** Wraps wide lines, for output that stays. A frame that is redrawn must not grow, so its lines are cut. */
  readonly breaks?: boolean
}

/** The only way to the terminal: nothing in a line can act as a control sequence. */
export const Lines = memo(function Lines({ lines, colour, breaks = false }: LinesProps): ReactNode {
  return createElement(
    Box,
    { flexDirection: "column" },
    lines.map((spans, index) =>
      createElement(
        Text,
        { key: index, wrap: breaks ? "hard" : "truncate" },
        spans.length === 0
          ? " "
          : spans.map(({ text, style }, place) =>
              createElement(Text, { key: place, ...looks(style, colour) }, printable(text)),
            ),
      ),
    ),
  )
})

function looks(style: Style | undefined, colour: boolean): TextProps {
  if (!style || !colour) return {}
  const { colour: color, bold, dim, italic, underline, strike } = style
  return {
    ...(color ? { color } : {}),
    ...(bold ? { bold } : {}),
    ...(dim ? { dimColor: dim } : {}),
    ...(italic ? { italic } : {}),
    ...(underline ? { underline } : {}),
    ...(strike ? { strikethrough: strike } : {}),
  }
}
