/**
 * The work limit of a check, in compared characters. A reply of a megabyte may have tens of thousands of quotes and
 * hundreds of markers. What exceeds the limit is not checked, which the report says.
 */
const MAX_COMPARED = 50_000_000
/**
 * The cost of other work per character of a passage, in compared characters (about 10 ns each). The check runs on the
 * main thread, and passages are untrusted, so they can be long.
 */
export const COST: Readonly<Record<"fold" | "readFigures" | "readSentences", number>> = {
  fold: 20,
  readFigures: 60,
  readSentences: 80,
}
/** The most markers in a report. */
export const MAX_CITATIONS = 5_000
/** The most characters of a quote in a report. */
const MAX_OF_QUOTE = 1_000

export interface WorkBudget {
  /** The number of quotes, sentences and markers that were not checked. */
  unchecked: number
  /** Characters compared so far. */
  readonly spent: number
  /**
   * Returns false if this exceeds the limit. Everything after it is then refused as well, so that only the beginning is
   * checked.
   */
  spend(characters: number): boolean
}

export function createWork(most = MAX_COMPARED): WorkBudget {
  let spent = 0
  let isOver = false
  return {
    unchecked: 0,
    get spent() {
      return spent
    },
    spend(characters) {
      isOver ||= spent + characters > most
      if (!isOver) spent += characters
      return !isOver
    },
  }
}

export const shortenQuote = (quote: string): string =>
  quote.length > MAX_OF_QUOTE ? `${quote.slice(0, MAX_OF_QUOTE).toWellFormed()}…` : quote
