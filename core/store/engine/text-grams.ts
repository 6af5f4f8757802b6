/** Letters of languages that put no space between words, and of Korean, whose words change at their ends. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu

const LETTERS = "abcdefghijklmnopqrstuvwxyz"
/** 26⁴ are more than there are characters of these languages. */
const PER_CHARACTER = 4

/**
 * What a text of such a language is found by: each two of its characters that follow each other, and the last of a row by itself.
 * Written in plain letters, four for each character: what an engine does with letters of its own choosing it does not do with these,
 * and a character by itself is found as the beginning of a pair.
 */
export function gramsOf(text: string): string[] {
  return rowsOf(text).flatMap((row) => row.map((character, i) => character + (row[i + 1] ?? "")))
}

/** The same for a question: pairs alone, where there is one. */
export function askedGrams(text: string): string[] {
  const grams = rowsOf(text).flatMap((row) => (row.length === 1 ? row : row.slice(1).map((next, i) => row[i]! + next)))
  return [...new Set(grams)]
}

/** A text without them, for the index over words. */
export const withoutUnspaced = (text: string) => text.normalize("NFKC").replaceAll(UNSPACED, " ")

/** Of one character: it stands for all that begin with it. */
export const isBeginning = (gram: string) => gram.length === PER_CHARACTER

const rowsOf = (text: string): string[][] =>
  (text.normalize("NFKC").match(UNSPACED) ?? []).map((row) => Array.from(row, (character) => lettersOf(character)))

function lettersOf(character: string): string {
  let code = character.codePointAt(0)!
  let letters = ""
  for (let i = 0; i < PER_CHARACTER; i++) {
    letters = LETTERS[code % LETTERS.length]! + letters
    code = Math.floor(code / LETTERS.length)
  }
  return letters
}
