/**
 * Characters that show nothing, as the inside of a character class; the one table of them. Unicode's own list of what a font
 * leaves out (tags, zero width, fillers, variation selectors, turned direction), and the marks of interlinear notes.
 */
export const INVISIBLE = String.raw`\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB`

/** Those, and what does something or can be anything: controls, formats, private use, halves of a pair, ends of lines. */
const HIDDEN = new RegExp(String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029${INVISIBLE}]`, "gu")

/** In a family of people the joiner is part of the picture. */
const JOINER = "\u200D"
const BEFORE = /\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*$/u
const AFTER = /^\p{Extended_Pictographic}/u
/** One behind a character chooses how it is drawn; more of them draw nothing and can spell anything. */
const VARIANT = /^[\uFE00-\uFE0F]$/
const DRAWN = new RegExp(String.raw`[^\s${INVISIBLE}]$`, "u")

/** The text with every hidden character written out as its number, such as `⟨U+202E⟩`. */
export function escapeHidden(text: string): string {
  return piecesOf(text)
    .map((piece) => (piece.hidden ? `⟨${piece.text}⟩` : piece.text))
    .join("")
}

/** The same in JSON, where a character and its number are the same to programs: nothing of it is lost. */
export function escapeHiddenJson(json: string): string {
  return json.replaceAll(HIDDEN, (character) =>
    character
      .split("")
      .reduce((escaped, unit) => `${escaped}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`, ""),
  )
}

export interface Piece {
  readonly text: string
  /** It stands for a character that would not be seen. */
  readonly hidden: boolean
}

/** A text in order, with hidden characters as pieces of their own that say their number. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  const plain = (until: number) => until > end && pieces.push({ text: text.slice(end, until), hidden: false })
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    const after = index + character.length
    const before = text.slice(Math.max(0, index - 8), index)
    if (character === JOINER && BEFORE.test(before) && AFTER.test(text.slice(after, after + 2))) continue
    if (VARIANT.test(character) && DRAWN.test(before)) continue
    plain(index)
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
    pieces.push({ text: `U+${code}`, hidden: true })
    end = after
  }
  plain(text.length)
  return pieces
}
