import { eastAsianWidth } from "get-east-asian-width"
import { DIM, type Line, type Span, indent, line, span } from "./line.ts"
import { toShown } from "./shown.ts"

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

/** Made when it is needed: it takes 20 ms, and most of what is shown is ASCII. */
let segmenter: Intl.Segmenter | undefined
/** Each is one column and stands alone; the brackets are those of what `toShown` writes out, of which there may be millions. */
const SIMPLE = /^[ -~⟨⟩]*$/
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const PICTURE = /\p{Emoji_Presentation}|\uFE0F|^\p{Regional_Indicator}{2}$/u

/** Most lines are shorter. */
const MIN_LOOKED_AT = 64

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (SIMPLE.test(text)) return text.length
  let width = 0
  for (const grapheme of graphemesOf(text)) width += widthOfGrapheme(grapheme)
  return width
}

/** What a person sees as one character, each. */
export function graphemesOf(text: string): string[] {
  if (SIMPLE.test(text)) return text.split("")
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** The beginning of a text that fits, and the rest of it. Costs what fits, however long the text is. */
export function fit(text: string, width: number): { readonly head: string; readonly rest: string } {
  for (let length = Math.max(MIN_LOOKED_AT, 2 * width); ; length *= 2) {
    const end = endOf(text.slice(0, length), width, length >= text.length)
    if (end !== undefined) return { head: text.slice(0, end), rest: text.slice(end) }
  }
}

/** Where that ends which fits; undefined where more has to be looked at: what comes last may go on after it, or be half a character. */
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
 * Never less than the terminal takes: a line that is longer than it was thought to be is cut, and what somebody is asked to
 * agree to must not be. So a mark that takes a column in some terminals takes one here.
 */
function widthOfGrapheme(grapheme: string): number {
  if (grapheme.length === 1 && grapheme.charCodeAt(0) < 0x300) return 1
  if (NO_WIDTH.test(grapheme)) return 0
  let width = 0
  for (const character of grapheme) width += NOTHING.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0)
  return Math.max(width, PICTURE.test(grapheme) ? 2 : 0)
}

const GAP = 2
/** With less room than that for the second column it stands below the first. */
const LEAST = 30

/** Two columns: words, and what they mean. */
export function columnLines(rows: readonly (readonly [string, string])[], width: number): Line[] {
  const shown = rows.map(([left, right]) => [toShown(left.trimEnd()), toShown(right)] as const)
  const first = Math.max(0, ...shown.map(([left]) => widthOf(left))) + GAP
  if (width - first < LEAST)
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
