import { eastAsianWidth } from "get-east-asian-width"
import { DIM, type Line, type Span, indent, line, span } from "./line.ts"
import { printable } from "./printable.ts"

/** Wraps a line between words; a word that is too long is cut. `hang` precedes all lines but the first. */
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
      // A space that does not fit ends the line.
      if (used > 0 && used + group.width <= width) used += put(lines, group.pieces)
      else if (lines.length === 1 && used === 0) used += put(lines, group.pieces)
      continue
    }
    if (used + group.width > width && used > (lines.length > 1 ? hanging : 0)) begin()
    for (const piece of group.pieces) {
      let rest = piece.text
      while (rest !== "") {
        const { head, rest: after } = fit(rest, Math.max(1, width - used))
        // If not even one character fits, it is added anyway: nothing may be lost, and the loop must end.
        const piece_ = head === "" ? (used > hanging ? "" : rest) : head
        if (piece_ !== "") used += put(lines, [{ ...piece, text: piece_ }])
        rest = piece_ === rest ? "" : piece_ === "" ? rest : after
        if (rest !== "") begin()
      }
    }
  }
  return lines
}

/** Cuts a line at the width, for text in which spaces count. */
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

/** Cuts a line that does not fit and adds "…". */
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

/** Words and the spaces between them. A word may have several spans, as in **wo**rd. */
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

/** Created on first use: it takes 20 ms, and most text is ASCII. */
let segmenter: Intl.Segmenter | undefined
/** Characters of one column that do not combine. The brackets are written by `printable`, possibly millions of times. */
const SIMPLE = /^[ -~⟨⟩]*$/
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const ZERO_WIDTH_CHARACTER = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const WIDE_EMOJI = /\p{Emoji_Presentation}|\uFE0F|^\p{Regional_Indicator}{2}$/u

const MIN_CHUNK = 64

/** The number of columns of a text. */
export function widthOf(text: string): number {
  if (SIMPLE.test(text)) return text.length
  let width = 0
  for (const grapheme of graphemesOf(text)) width += widthOfGrapheme(grapheme)
  return width
}

export function graphemesOf(text: string): string[] {
  if (SIMPLE.test(text)) return text.split("")
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/**
 * Splits a text into the beginning that fits and the rest. The cost depends on the width, not on the length of the
 * text.
 */
export function fit(text: string, width: number): { readonly head: string; readonly rest: string } {
  for (let length = Math.max(MIN_CHUNK, 2 * width); ; length *= 2) {
    const end = endOf(text.slice(0, length), width, length >= text.length)
    if (end !== undefined) return { head: text.slice(0, end), rest: text.slice(end) }
  }
}

/** The end of what fits; undefined if more text is needed, because the last grapheme may be incomplete. */
function endOf(text: string, width: number, isAll: boolean): number | undefined {
  let used = 0
  let end = 0
  for (const grapheme of graphemesOf(text)) {
    if (!isAll && end + grapheme.length === text.length) return undefined
    used += widthOfGrapheme(grapheme)
    if (used > width) return end
    end += grapheme.length
  }
  return end
}

/**
 * Never less than the terminal needs: the end of a line that is wider than computed is cut, and a person could approve
 * what they cannot see. So a mark that has a width in some terminals has one here.
 */
function widthOfGrapheme(grapheme: string): number {
  if (grapheme.length === 1 && grapheme.charCodeAt(0) < 0x300) return 1
  if (ZERO_WIDTH.test(grapheme)) return 0
  let width = 0
  for (const character of grapheme)
    width += ZERO_WIDTH_CHARACTER.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0)
  return Math.max(width, WIDE_EMOJI.test(grapheme) ? 2 : 0)
}

const GAP = 2
/** With less room the second column goes below the first. */
const MIN_SECOND_COLUMN = 30

export function columnLines(rows: readonly (readonly [string, string])[], width: number): Line[] {
  const shown = rows.map(([left, right]) => [printable(left.trimEnd()), printable(right)] as const)
  const first = Math.max(0, ...shown.map(([left]) => widthOf(left))) + GAP
  if (width - first < MIN_SECOND_COLUMN)
    return shown.flatMap(([left, right]) => [
      ...wrap(line(left), width),
      ...wrap(line(right, DIM), width - 2).map(indent),
    ])
  const hang = [span(" ".repeat(first))]
  return shown.flatMap(([left, right]) => {
    const lines = wrap(line(right, DIM), width - first)
    return lines.map((each, index): Line => [
      ...(index === 0 ? [span(left + " ".repeat(first - widthOf(left)))] : hang),
      ...each,
    ])
  })
}
