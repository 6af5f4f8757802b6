/** Made when it is needed: it takes 20 ms, and most of what is shown is ASCII. */
let segmenter: Intl.Segmenter | undefined
/** Each is one column and stands alone; the brackets are those of what `toShown` writes out, of which there may be millions. */
const SIMPLE = /^[ -~⟨⟩]*$/
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const PICTURE = /\p{Emoji_Presentation}|\uFE0F|^\p{Regional_Indicator}{2}$/u

/** Most lines are shorter. */
const MIN_LOOKED_AT = 64

/** Blocks that East Asian terminals, and all others, draw two columns wide. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2630, 0x2637],
  [0x268a, 0x268f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x191ff],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d37f],
  [0x1f000, 0x1faff],
  [0x20000, 0x3fffd],
]

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
  for (const character of grapheme) width += NOTHING.test(character) ? 0 : widthOfCharacter(character)
  return Math.max(width, PICTURE.test(grapheme) ? 2 : 0)
}

function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1
}
