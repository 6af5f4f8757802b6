/**
 * Invisible characters, as the content of a character class. Unicode's default-ignorable code points (tags, zero-width
 * characters, fillers, variation selectors, bidirectional controls) and interlinear annotation marks. Other code must
 * use this list.
 */
export const INVISIBLE = String.raw`\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB`

/**
 * Invisible characters, and characters with an effect or without a fixed meaning: controls, formats, private use, lone
 * surrogates, line separators.
 */
const HIDDEN = new RegExp(String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029${INVISIBLE}]`, "gu")

/** The zero-width joiner is part of emoji such as a family. */
const JOINER = "\u200D"
const BEFORE = /\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*$/u
const AFTER = /^\p{Extended_Pictographic}/u
/**
 * A single variation selector chooses how the character before it is drawn. Several in a row draw nothing, and can hide
 * text.
 */
const VARIANT = /^[\uFE00-\uFE0F]$/
const DRAWN = new RegExp(String.raw`[^\s${INVISIBLE}]$`, "u")

/** Replaces each hidden character with its code point, such as `⟨U+202E⟩`. */
export function escapeHidden(text: string): string {
  return piecesOf(text)
    .map((piece) => (piece.hidden ? `⟨${piece.text}⟩` : piece.text))
    .join("")
}

/**
 * Escapes text for a pipe or a file, whose content is often displayed by a terminal: replaces control characters,
 * except tabs and line ends, and bidirectional controls with their code points. A carriage return alone is not a line end:
 * a terminal writes the text after it over the text before it.
 */
export const escapeControls = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t\n\r]|\r(?!\n)|[\u202A-\u202E\u2066-\u2069]/gu, (control) => `⟨${numberOf(control)}⟩`)

/** Escapes hidden characters in JSON as `\u…`, which programs read as the same text. */
export function escapeHiddenJson(json: string): string {
  return json.replaceAll(HIDDEN, (character) =>
    character
      .split("")
      .reduce((escaped, unit) => `${escaped}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`, ""),
  )
}

const numberOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/** A piece of a text that was split at hidden characters, which a reader cannot see. */
export interface TextPiece {
  readonly text: string
  /** True if the text stands for a hidden character. */
  readonly hidden: boolean
}

/** Splits a text at hidden characters, which become pieces with their code points. */
export function piecesOf(text: string): TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  const plain = (until: number) => until > end && pieces.push({ text: text.slice(end, until), hidden: false })
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    const after = index + character.length
    const before = text.slice(Math.max(0, index - 8), index)
    if (character === JOINER && BEFORE.test(before) && AFTER.test(text.slice(after, after + 2))) continue
    if (VARIANT.test(character) && DRAWN.test(before)) continue
    plain(index)
    pieces.push({ text: numberOf(character), hidden: true })
    end = after
  }
  plain(text.length)
  return pieces
}
