import type { Line, Span } from "./line.ts"
import { fit, widthOf } from "./text-width.ts"

/** A line broken between words into lines that fit; a word that is too long is cut. `hang` stands before all but the first. */
export function wrap(spans: Line, width: number, hang: Line = []): Line[] {
  const lines: Span[][] = [[]]
  let used = 0
  const hanging = lineWidth(hang)
  const begin = () => {
    const ended = lines.at(-1)
    while (ended && ended.length > 0 && ended.at(-1)?.text.trim() === "") ended.pop()
    lines.push([...hang])
    used = hanging
  }
  for (const group of groupsOf(spans)) {
    if (group.isSpace) {
      // A space that does not fit is where the line ends.
      if (used > 0 && used + group.width <= width) used += put(lines, group.pieces)
      else if (lines.length === 1 && used === 0) used += put(lines, group.pieces)
      continue
    }
    if (used + group.width > width && used > (lines.length > 1 ? hanging : 0)) begin()
    for (const piece of group.pieces) {
      let rest = piece.text
      while (rest !== "") {
        const { head, rest: after } = fit(rest, Math.max(1, width - used))
        // Where not even one character fits it is put all the same: nothing may be lost, and this must end.
        const taken = head === "" ? (used > hanging ? "" : rest) : head
        if (taken !== "") used += put(lines, [{ ...piece, text: taken }])
        rest = taken === rest ? "" : taken === "" ? rest : after
        if (rest !== "") begin()
      }
    }
  }
  return lines
}

/** A line cut where the screen ends, for text in which spaces count. */
export function chop(spans: Line, width: number): Line[] {
  const lines: Span[][] = [[]]
  let used = 0
  for (const piece of spans) {
    let rest = piece.text
    while (rest !== "") {
      const { head, rest: after } = fit(rest, width - used)
      if (head === "" && used === 0) {
        put(lines, [{ ...piece, text: rest }])
        break
      }
      if (head !== "") used += put(lines, [{ ...piece, text: head }])
      rest = after
      if (rest !== "") {
        lines.push([])
        used = 0
      }
    }
  }
  return lines
}

/** A line that ends with … where it would not fit. */
export function clip(spans: Line, width: number): Line {
  if (lineWidth(spans) <= width) return spans
  const [first = []] = chop(spans, Math.max(1, width - 1))
  return [...first, { text: "…" }]
}

export const lineWidth = (spans: Line): number => spans.reduce((width, { text }) => width + widthOf(text), 0)

interface Group {
  readonly isSpace: boolean
  readonly width: number
  readonly pieces: readonly Span[]
}

/** Words and the spaces between them; a word may be of several pieces, as in **wo**rd. */
function groupsOf(spans: Line): Group[] {
  const groups: { isSpace: boolean; width: number; pieces: Span[] }[] = []
  for (const piece of spans) {
    for (const text of piece.text.split(/( +)/)) {
      if (text === "") continue
      const isSpace = text.startsWith(" ")
      const last = groups.at(-1)
      const one = { ...piece, text }
      if (last && last.isSpace === isSpace) {
        last.pieces.push(one)
        last.width += widthOf(text)
      } else groups.push({ isSpace, width: widthOf(text), pieces: [one] })
    }
  }
  return groups
}

function put(lines: Span[][], pieces: readonly Span[]): number {
  lines.at(-1)?.push(...pieces)
  return lineWidth(pieces)
}
