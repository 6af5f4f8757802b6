/**
 * Characters that do something and show nothing: controls, marks that turn the direction of writing, spaces without
 * width, fillers, tags. A name that holds one does not look like what it is.
 */
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\u115F\u1160\u3164\uFFA0\u034F\u17B4\u17B5\u{E0100}-\u{E01EF}]/gu

/** In a family of people the joiner is part of the picture. */
const JOINER = "\u200D"
const BEFORE = /\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*$/u
const AFTER = /^\p{Extended_Pictographic}/u

/** The text with every hidden character written out as its number, such as `⟨U+202E⟩`. */
export function escapeHidden(text: string): string {
  return piecesOf(text)
    .map((piece) => (piece.hidden ? `⟨${piece.text}⟩` : piece.text))
    .join("")
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
    if (
      character === JOINER &&
      BEFORE.test(text.slice(Math.max(0, index - 8), index)) &&
      AFTER.test(text.slice(after, after + 2))
    )
      continue
    plain(index)
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
    pieces.push({ text: `U+${code}`, hidden: true })
    end = after
  }
  plain(text.length)
  return pieces
}
