import type { Source } from "../protocol/stages.ts"
import { quotesIn } from "./cite-quotes.ts"
import { findQuote, fold } from "./find-quote.ts"

/** Words in quotation marks with fewer words are a name, a title or irony. */
const LEAST_WORDS = 6
/** More are not looked for: each is compared with all that was found. */
const MOST_QUOTES = 50
const BEFORE = 80
/** Somebody is said to have said it. */
const SAYS =
  /(?<![\p{L}])(?:says?|said|states?|stated|writes?|wrote|concludes?|concluded|reports?|reported|notes?|noted|argues?|argued|claims?|claimed|puts it|according to|(?:the )?authors?|paper|study|document|passage|sagt|sagen|schreib(?:t|en)|heißt es|laut|zufolge|berichtet|selon|écri(?:t|vent)|affirme|indique|según|dice|afirma|señala|escribe)(?![\p{L}])/iu

export interface Unmarked {
  readonly at: number
  readonly quote: string
}

/** Quotes of a paragraph without a marker that are given to somebody. */
export function givenTo(words: string, told: string): Unmarked[] {
  return quotesIn(words)
    .slice(0, MOST_QUOTES)
    .map(({ start, end }) => ({ at: start, quote: told.slice(start + 1, end - 1).trim() }))
    .filter(({ at, quote }) => isSentence(quote) && SAYS.test(words.slice(Math.max(0, at - BEFORE), at)))
}

/** Those of them that stand in nothing that was found or was said. */
export function madeUp(quotes: readonly Unmarked[], sources: Iterable<Source>, said: string): Unmarked[] {
  if (quotes.length === 0) return []
  const texts = [said, ...Array.from(sources, ({ title, passage }) => `${title}\n${passage}`)].map(fold)
  return quotes.slice(0, MOST_QUOTES).filter(({ quote }) => !texts.some((text) => findQuote(text, quote)))
}

function isSentence(quote: string): boolean {
  const words = quote.slice(0, 2000).match(/[\p{L}\p{N}]+/gu) ?? []
  // A title has capitals.
  return words.length >= LEAST_WORDS && words.filter((word) => /^\p{Lu}/u.test(word)).length * 2 < words.length
}
