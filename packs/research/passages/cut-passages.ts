import { failure, MAX_PASSAGES } from "../../../core/program.ts"

/** A section of a document under one heading. Offsets are UTF-16 units of its text. */
export interface Section {
  /** The headings, from the outermost one. */
  readonly headings: readonly string[]
  readonly start: number
  readonly end: number
}

export interface PassageSpan {
  readonly headings: readonly string[]
  readonly start: number
  readonly end: number
}

/** Throws `document_too_large` if there are more sections than a library may have passages. */
export function refuseMany(some: readonly unknown[]): void {
  if (some.length > MAX_PASSAGES)
    throw failure("document_too_large", { what: "What it is cut into", most: `${MAX_PASSAGES} passages` })
}

/**
 * The maximum and, if the text permits it, minimum size of a passage. Measured on Cranfield:
 * docs/reference/documents.md.
 */
export interface PassageSize {
  readonly most: number
  readonly least: number
}
export const PASSAGE_SIZE: PassageSize = { most: 800, least: 200 }

/**
 * Cuts a text into passages. A passage never crosses a heading. It ends with a paragraph, otherwise with a sentence,
 * otherwise with a word. Passages do not overlap, so that each word is found and quoted in one position.
 */
export function cutPassages(text: string, sections: readonly Section[], size = PASSAGE_SIZE): PassageSpan[] {
  const spans = sections.flatMap(({ headings, start, end }) =>
    cutSection(text, trimmed(text, start, end), size).map((span) => ({ headings, ...span })),
  )
  refuseMany(spans)
  return spans
}

interface Range {
  readonly start: number
  readonly end: number
}

function cutSection(text: string, { start, end }: Range, size: PassageSize): Range[] {
  const spans: Range[] = []
  let at = start
  while (at < end) {
    const next = end - at <= size.most ? end : bestEnd(text, at, size)
    const span = trimmed(text, at, next)
    if (span.end > span.start) spans.push(span)
    at = next
  }
  // A short last passage is joined to the previous one if both fit together.
  const [before, last] = [spans.at(-2), spans.at(-1)]
  if (before && last && last.end - last.start < size.least && last.end - before.start <= size.most + size.least)
    spans.splice(-2, 2, { start: before.start, end: last.end })
  return spans
}

/** Returns the end of the passage that starts here. Reads each character once. */
function bestEnd(text: string, start: number, { most, least }: PassageSize): number {
  const limit = start + most
  let paragraph = 0
  let sentence = 0
  let word = 0
  for (let i = start + 1; i <= limit; i++) {
    // Scripts without spaces between words have none between sentences.
    if (isFullStop(text[i - 1])) word = sentence = i
    if (!isSpace(text, i - 1)) continue
    word = i
    if (text[i - 1] === "\n" && followsBlank(text, i - 1)) paragraph = i
    else if (endsSentence(text, i - 2, start)) sentence = i
  }
  const enough = start + Math.max(least, most / 2)
  if (paragraph >= enough) return paragraph
  if (sentence >= start + least) return sentence
  if (paragraph >= start + least) return paragraph
  if (word > start) return word
  // Never cut a surrogate pair, because half of one cannot be stored.
  return /[\uD800-\uDBFF]/.test(text[limit - 1] ?? "") ? limit - 1 : limit
}

/** True if the line before this line end is empty. */
function followsBlank(text: string, newline: number): boolean {
  for (let i = newline - 1; i >= 0 && newline - i < 20; i--) {
    if (text[i] === "\n") return true
    if (!isSpace(text, i)) return false
  }
  return false
}

/** Quotes and brackets may follow the full stop. */
function endsSentence(text: string, at: number, start: number): boolean {
  for (let i = at; i > start && at - i < 4; i--) {
    const sign = text[i]!
    if (".!?。！？…".includes(sign)) return true
    if (!"\"')]}»”’ ".includes(sign)) return false
  }
  return false
}

const isFullStop = (sign: string | undefined) => sign === "。" || sign === "！" || sign === "？"

function trimmed(text: string, from: number, to: number): Range {
  let [start, end] = [from, to]
  while (start < end && isSpace(text, start)) start++
  while (end > start && isSpace(text, end - 1)) end--
  return { start, end }
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000 || code === 0x2028
}
