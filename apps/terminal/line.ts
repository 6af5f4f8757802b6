import { chatText } from "../strings/chat.ts"

/** A line of the screen as spans. The renderer decides what a style looks like. */
export type Line = readonly Span[]

export interface Span {
  readonly text: string
  readonly style?: Style
}

/** How a span looks. A style never carries a meaning that the text does not have. */
export interface Style {
  readonly colour?: "red" | "green" | "yellow" | "blue" | "cyan" | "magenta"
  readonly bold?: boolean
  readonly dim?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly strike?: boolean
}

export const span = (text: string, style?: Style): Span => (style ? { text, style } : { text })
export const line = (text: string, style?: Style): Line => (text === "" ? [] : [span(text, style)])

export const DIM: Style = { dim: true }
export const BOLD: Style = { bold: true }

export const lineText = (spans: Line): string => spans.map(({ text }) => text).join("")

export const prefixed = (prefix: string, spans: Line, style?: Style): Line => [span(prefix, style), ...spans]

export const indent = (spans: Line): Line => prefixed("  ", spans)

/** The last lines, and the number of those left out. */
export function atLast(lines: readonly Line[], most: number): Line[] {
  if (lines.length <= most) return [...lines]
  return [line(chatText.linesBefore(lines.length - most + 1), DIM), ...lines.slice(1 - most)]
}

/** The first lines, and the number of those left out. */
export function atMost(lines: readonly Line[], most: number): Line[] {
  if (lines.length <= most) return [...lines]
  return [...lines.slice(0, most - 1), line(chatText.moreLines(lines.length - most + 1), DIM)]
}

/** The size of the screen in characters. */
export interface Room {
  readonly columns: number
  readonly rows: number
}
