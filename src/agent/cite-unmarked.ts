import type { Source } from "../protocol/stages.ts"
import { italicQuotesIn } from "./cite-italics.ts"
import { apartFrom, quotesIn } from "./cite-quotes.ts"
import { BEFORE, isSentence, SAYS } from "./cite-said.ts"
import { findQuote, fold } from "./find-quote.ts"

/** More are not looked for: each is compared with all that was found. */
const MOST_QUOTES = 50

export interface Unmarked {
  readonly at: number
  readonly quote: string
}

/** Quotes of a paragraph without a marker that are given to somebody. */
export function givenTo(words: string, told: string): Unmarked[] {
  const marked = quotesIn(words)
  const inMarks = marked
    .map(({ start, end }) => ({ at: start, quote: told.slice(start + 1, end - 1).trim() }))
    .filter(({ at, quote }) => isSentence(quote) && SAYS.test(words.slice(Math.max(0, at - BEFORE), at)))
  const inItalics = italicQuotesIn({ words, told }, [], () => false)
    .filter(apartFrom(marked))
    .map(({ start, end, signs }) => ({ at: start, quote: told.slice(start + signs, end - signs).trim() }))
  return [...inMarks, ...inItalics].sort((one, other) => one.at - other.at).slice(0, MOST_QUOTES)
}

/** Those of them that stand in nothing that was found or was said. */
export function madeUp(quotes: readonly Unmarked[], sources: Iterable<Source>, said: string): Unmarked[] {
  if (quotes.length === 0) return []
  const texts = [said, ...Array.from(sources, ({ title, passage }) => `${title}\n${passage}`)].map(fold)
  return quotes.slice(0, MOST_QUOTES).filter(({ quote }) => !texts.some((text) => findQuote(text, quote)))
}
