import type { Source } from "../../../core/pack.ts"
import { type BlockPiece, blockPiecesIn } from "./blocks.ts"
import { isWhole, type ParagraphText } from "./claims.ts"
import { italicQuotesIn } from "./italics.ts"
import { apartFrom, between, type Quote, quotesIn } from "./quotes.ts"
import { BEFORE, isSentence, leadsToBlock, ATTRIBUTION } from "./attribution.ts"
import { withoutAuthor } from "./titles.ts"
import { COST, shortenQuote, type WorkBudget } from "./work-limit.ts"
import { findPieces, fold, type Folded, quotePieces } from "./find-quote.ts"

/** The most made-up quotes in a report. */
const MAX_REPORTED = 50

export interface Unmarked {
  readonly at: number
  readonly quote: string
}

/** The text before and after a paragraph that may contain an attribution. */
export interface Around {
  readonly before: string
  readonly behind: string
}
export const AROUND = BEFORE

/**
 * Attributed quotes without a marker: in a paragraph without markers all of them, in others the block quotes that
 * belong to none.
 */
export function attributedQuotes({ words, original, markers, before, behind }: ParagraphText & Around): Unmarked[] {
  const marked = quotesIn(words)
  const first = words.search(/\S/)
  const pieces = blockPiecesIn(words, markers, () => true).filter(({ group }) => group === undefined)
  const isGiven = ({ start, end, block }: BlockPiece) =>
    leadsToBlock(`${before}${words.slice(Math.max(0, block.start - BEFORE), block.start)}`.slice(-BEFORE)) ||
    withoutAuthor(original.slice(start, end), "") !== original.slice(start, end) ||
    isAuthor(words.slice(block.end, block.end + BEFORE) || behind)
  // If a block has quotation marks and only a few words around them, the quote is what is inside the marks.
  const inBlocks = pieces.filter(isGiven).flatMap(({ start, end }): readonly Quote[] => {
    if (isWhole(words, { start, end }, marked)) return [{ start, end }]
    return between(marked, start, end).map((quote) => ({ start: quote.start + 1, end: quote.end - 1 }))
  })
  const found = markers.length > 0 ? inBlocks : [...inBlocks, ...inMarks(), ...inItalics()]
  return found
    .map(({ start, end }) => ({ at: start, quote: original.slice(start, end).trim() }))
    .filter(({ quote }) => isSentence(quote))
    .sort((one, other) => one.at - other.at)

  function inMarks(): Quote[] {
    return marked
      .filter(apartFrom(inBlocks))
      .filter(({ start }) => {
        return start === first
          ? leadsToBlock(before)
          : ATTRIBUTION.test(words.slice(Math.max(0, start - BEFORE), start))
      })
      .map(({ start, end }) => ({ start: start + 1, end: end - 1 }))
  }
  function inItalics(): Quote[] {
    return italicQuotesIn({ words, original }, [], () => false)
      .filter(apartFrom([...marked, ...inBlocks]))
      .map(({ start, end, signs }) => ({ start: start + signs, end: end - signs }))
  }
}

/** True if the next line only names the author of the text above it. */
function isAuthor(behind: string): boolean {
  const [line = ""] = behind.trimStart().split("\n", 1)
  return /^(?:[—–―]|--)/.test(line) && withoutAuthor(line, "") === ""
}

interface Known {
  readonly sources: Iterable<Source>
  readonly userText: string
  readonly work: WorkBudget
}

/** The quotes that are neither in the sources nor in the user's text. */
export function inventedQuotes(quotes: readonly Unmarked[], { sources, userText, work }: Known): Unmarked[] {
  if (quotes.length === 0) return []
  const texts = [{ title: "", passage: userText }, ...sources].map(({ title, passage }) => ({
    title,
    from: `${title}\n${passage}`,
    words: undefined as Folded | undefined,
  }))
  /** Undefined if checking takes too much work. */
  const stands = (quote: string): boolean | undefined => {
    const pieces = quotePieces(quote)
    for (const text of texts) {
      const { title, from } = text
      if (!text.words && !work.spend(from.length * COST.fold)) return undefined
      const words = (text.words ??= fold(from))
      if (!work.spend(words.text.length + title.length + quote.length)) return undefined
      const own = withoutAuthor(quote, title)
      if (findPieces(words, pieces) ?? (own === quote ? undefined : findPieces(words, quotePieces(own)))) return true
    }
    return false
  }
  const found: Unmarked[] = []
  for (const { at, quote } of quotes) {
    const isTrue = found.length < MAX_REPORTED ? stands(quote) : undefined
    if (isTrue === undefined) work.unchecked++
    else if (!isTrue) found.push({ at, quote: shortenQuote(quote) })
  }
  return found
}
