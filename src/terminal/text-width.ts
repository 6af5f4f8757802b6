const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const ASCII = /^[ -~]*$/
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const PICTURE = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|^\p{Regional_Indicator}{2}$/u

/** Blocks that East Asian terminals, and all others, draw two columns wide. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x20000, 0x3fffd],
]

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const grapheme of graphemesOf(text)) width += widthOfGrapheme(grapheme)
  return width
}

/** What a person sees as one character, each. */
export function graphemesOf(text: string): string[] {
  if (ASCII.test(text)) return text.split("")
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** The beginning of a text that fits, and whether that is all of it. */
export function fit(text: string, width: number): { readonly head: string; readonly rest: string } {
  let used = 0
  let end = 0
  for (const grapheme of graphemesOf(text)) {
    used += widthOfGrapheme(grapheme)
    if (used > width) break
    end += grapheme.length
  }
  return { head: text.slice(0, end), rest: text.slice(end) }
}

function widthOfGrapheme(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (NO_WIDTH.test(grapheme)) return 0
  if (PICTURE.test(grapheme)) return 2
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1
}
