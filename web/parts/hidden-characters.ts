/**
 * Characters that do something and show nothing: controls, marks that turn the direction of writing, spaces without
 * width, fillers, tags. A name that holds one does not look like what it is.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\u115F\u1160\u3164\uFFA0\u034F\u17B4\u17B5\u{E0100}-\u{E01EF}]/gu

/** In a family of people the joiner is part of the picture. */
const JOINED = /(?<=\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*)\u200D(?=\p{Extended_Pictographic})/gu
const KEPT = "\uE000"

/** The text with every hidden character written out as its number, such as `⟨U+202E⟩`. */
export function escapeHidden(text: string): string {
  if (text.search(HIDDEN) === -1) return text
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
  const marked = text.replaceAll(KEPT, "\uFFFD").replaceAll(JOINED, KEPT)
  let end = 0
  const push = (plain: string) => plain && pieces.push({ text: plain.replaceAll(KEPT, "\u200D"), hidden: false })
  for (const { 0: character, index } of marked.matchAll(HIDDEN)) {
    if (character === KEPT) continue
    push(marked.slice(end, index))
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
    pieces.push({ text: `U+${code}`, hidden: true })
    end = index + character.length
  }
  push(marked.slice(end))
  return pieces
}
