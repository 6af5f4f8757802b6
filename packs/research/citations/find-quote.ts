import { type Harm, harmOf } from "./quote-gaps.ts"
import { MIN_QUOTE } from "./quotes.ts"

/** Text in the form in which quotes are compared, and the original position of each character. */
export interface Folded {
  readonly text: string
  readonly at: readonly number[]
  readonly from: string
}

export interface QuoteMatch {
  readonly start: number
  readonly end: number
  /** The text that dots replace, in order. */
  readonly leftOut?: readonly string[]
  /** Why some of it must not be left out. */
  readonly harm?: Harm
}

/** The most characters reported of each gap in a quote, and the most gaps. */
const MAX_REPORTED = 200
const MAX_GAPS = 20

/**
 * Finds a quote in a passage, ignoring punctuation, spaces and case, and with gaps marked by dots. Whole words
 * only: "ineffective" does not contain "effective".
 */
export function findQuote(passage: Folded, quote: string): QuoteMatch | undefined {
  return findPieces(passage, quotePieces(quote))
}

/** The same for a quote that is searched for in several passages. Takes linear time. */
export function findPieces(passage: Folded, pieces: readonly string[]): QuoteMatch | undefined {
  // Any sentence can be composed of fragments of a few letters.
  if (pieces.length > 1 && pieces.some((piece) => piece.length < MIN_QUOTE)) return undefined
  const places: number[] = []
  let from = 0
  for (const piece of pieces) {
    const at = indexOfWords(passage, piece, from)
    if (at < 0) return undefined
    places.push(at)
    from = at + piece.length
  }
  if (places.length === 0) return undefined
  // As close to the next piece as possible, so that a repeated word leaves out no more than necessary.
  for (let i = places.length - 2; i >= 0; i--)
    places[i] = lastIndexOfWords(passage, pieces[i]!, places[i]!, places[i + 1]!)
  const gaps = places.slice(1).map((at, i) => ({ start: places[i]! + pieces[i]!.length, end: at }))
  const found = { start: passage.at[places[0]!] ?? 0, end: (passage.at[from - 1] ?? 0) + 1 }
  if (gaps.length === 0) return found
  const textOf = ({ start, end }: { start: number; end: number }) => passage.text.slice(start, end)
  const harm = gaps.map((gap) =>
    harmOf(passage.text.slice(Math.max(0, gap.start - MAX_REPORTED), gap.start), textOf(gap)),
  )
  const first = harm.find((each) => each !== undefined)
  const leftOut = gaps
    .slice(0, MAX_GAPS)
    .map(({ start, end }) =>
      passage.from.slice(passage.at[start], passage.at[end]).trim().slice(0, MAX_REPORTED).toWellFormed(),
    )
  return { ...found, leftOut: leftOut.filter((words) => words !== ""), ...(first ? { harm: first } : {}) }
}

/** `[H]oney`: a letter whose case was changed to fit the sentence. */
const CHANGED_LETTER = /\[(\p{L})\](?=\p{L})/gu
const INSERTION = /\[\p{L}[^[\]\n]{0,60}\]/gu

/** `[the drug] was given`: words in brackets replace omitted ones. */
export const withoutInsertions = (quote: string): string =>
  quote.replaceAll(CHANGED_LETTER, "$1").replaceAll(INSERTION, " ... ")

export function quotePieces(quote: string): string[] {
  const plain = quote
    .replaceAll(/\n[^\S\n]*(?:>[^\S\n]?)+/g, "\n")
    .replaceAll(CHANGED_LETTER, "$1")
    .replaceAll("[sic]", "")
  const { text } = fold(plain)
  return text
    .split(/\(?\.{3,}\)?/)
    .map(withoutStop)
    .filter((piece) => piece !== "")
}

/** By hand, because a pattern anchored at the end would start again at each character of a run. */
function withoutStop(piece: string): string {
  let end = piece.length
  while (end > 0 && '.,;: "'.includes(piece[end - 1] as string)) end--
  let start = 0
  while (start < end && ' "'.includes(piece[start] as string)) start++
  return piece.slice(start, end)
}

function indexOfWords(passage: Folded, piece: string, from: number): number {
  const { value: first = -1 } = placesOf(passage, piece, { from, end: passage.text.length }).next()
  return first
}

/** The last position before `end` that is not before `first`; `first` if there is none. */
function lastIndexOfWords(passage: Folded, piece: string, first: number, end: number): number {
  let last = first
  for (const at of placesOf(passage, piece, { from: first, end })) last = at
  return last
}

/**
 * The positions between two others at which a piece occurs as whole words (Knuth–Morris–Pratt). Each character is read
 * once: `indexOf` restarts in a run of one letter, and finds only the first position.
 */
function* placesOf(
  passage: Folded,
  piece: string,
  { from, end }: { readonly from: number; readonly end: number },
): Generator<number, undefined> {
  const { text } = passage
  const repeats = repeatsOf(piece)
  let length = 0
  for (let at = from; at < end; at++) {
    if (length === 0) at = text.indexOf(piece[0] as string, at)
    if (at < 0 || at >= end) return undefined
    const unit = text.charCodeAt(at)
    while (length > 0 && (length === piece.length || unit !== piece.charCodeAt(length))) length = repeats[length - 1]!
    if (unit === piece.charCodeAt(length)) length++
    const start = at + 1 - piece.length
    if (length === piece.length && !isInside(passage, start) && !isInside(passage, at + 1)) yield start
  }
  return undefined
}

/** For each prefix of a piece: the length of its longest suffix that is also a prefix. */
function repeatsOf(piece: string): Int32Array {
  const repeats = new Int32Array(piece.length)
  let length = 0
  for (let at = 1; at < piece.length; at++) {
    const unit = piece.charCodeAt(at)
    while (length > 0 && unit !== piece.charCodeAt(length)) length = repeats[length - 1]!
    if (unit === piece.charCodeAt(length)) length++
    repeats[at] = length
  }
  return repeats
}

/** True if a word continues across this position. In scripts without spaces a word can end anywhere. */
function isInside({ text, at, from }: Folded, place: number): boolean {
  const [before, after] = [text[place - 1] ?? "", text[place] ?? ""]
  if (WORD.test(before) && WORD.test(after)) return !(UNSPACED.test(before) || UNSPACED.test(after))
  // non-effective, can't: one word each.
  const joins = (where: number) => /[-‐‑'’]/.test(from[at[where] ?? -1] ?? "")
  if (WORD.test(after) && joins(place - 1)) return WORD.test(text[place - 2] ?? "")
  return WORD.test(before) && joins(place) && WORD.test(text[place + 1] ?? "")
}

const WORD = /[\p{L}\p{N}]/u
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

export function fold(from: string): Folded {
  const units: string[] = []
  const at: number[] = []
  for (let index = 0; index < from.length; index++) {
    for (const unit of ASCII[from.charCodeAt(index)] ?? plain(from[index] as string)) {
      if (unit === " " && (units.length === 0 || units.at(-1) === " ")) continue
      units.push(unit)
      at.push(index)
    }
  }
  return { text: units.join(""), at, from }
}

function plain(character: string): string {
  if (/\s/.test(character)) return " "
  if (/[‘’‚‛′]/.test(character)) return "'"
  if (/[“”„‟″«»「」『』｢｣〝〞〟❝❞]/.test(character)) return '"'
  if (/[‐-―−]/.test(character)) return "-"
  // A model is shown a passage's references in parentheses, so that they do not look like our markers.
  if (character === "[") return "("
  if (character === "]") return ")"
  // Emphasis marks, and invisible characters.
  if (/[*_`\u00AD\u200B-\u200D\u2060]/.test(character)) return ""
  return character.normalize("NFKC").toLowerCase()
}

/** Most characters are ASCII, and a pattern per character would be most of the work. */
const ASCII: readonly string[] = Array.from({ length: 128 }, (_, unit) => plain(String.fromCharCode(unit)))
