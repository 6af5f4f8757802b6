/** Scripts without spaces between words, and Korean, whose words have changing endings. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu

const LETTERS = "abcdefghijklmnopqrstuvwxyz"
/** 26⁴ is more than the number of these characters. */
const PER_CHARACTER = 4

/**
 * The search grams of such a text: each pair of adjacent characters, and the last one of a run. Written in plain
 * letters, four per character, so that no engine applies its own tokenization; a single character matches as the prefix
 * of a pair.
 */
export function gramsOf(text: string): string[] {
  return rowsOf(text).flatMap((row) => row.map((character, i) => character + (row[i + 1] ?? "")))
}

/** The grams of a question: only pairs, if there are any. */
export function queryGrams(text: string): string[] {
  const grams = rowsOf(text).flatMap((row) => (row.length === 1 ? row : row.slice(1).map((next, i) => row[i]! + next)))
  return [...new Set(grams)]
}

/** Removes these scripts, for the index of words. */
export const removeUnspaced = (text: string) => text.normalize("NFKC").replaceAll(UNSPACED, " ")

/** A gram of one character, which matches all grams that start with it. */
export const isWordPrefix = (gram: string) => gram.length === PER_CHARACTER

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
