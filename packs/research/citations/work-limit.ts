/**
 * How much an answer's check may do, counted in characters that are compared. A reply of a megabyte may hold tens of
 * thousands of quotes beside hundreds of markers; what is beyond the bound is not checked, and that is said.
 */
const MAX_COMPARED = 50_000_000
/**
 * What work of other kinds costs, in characters that are compared (about 10 ns each), for each character of a passage. All
 * of it runs on the thread that serves everybody, and the passages are as long as whoever wrote them liked.
 */
export const COST: Readonly<Record<"fold" | "readFigures" | "readSentences", number>> = {
  fold: 20,
  readFigures: 60,
  readSentences: 80,
}
/** More markers are not told of: nobody follows them up. */
export const MAX_CITATIONS = 5_000
/** At most this many characters of a quote are repeated in a report. */
const MAX_OF_QUOTE = 1_000

export interface WorkBudget {
  /** Quotes, numbers' sentences and markers that were not checked. */
  unchecked: number
  /** Characters compared so far. */
  readonly spent: number
  /** False where it would be too much; then all that follows is too, so that what is checked is the beginning. */
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

export const toldQuote = (quote: string): string =>
  quote.length > MAX_OF_QUOTE ? `${quote.slice(0, MAX_OF_QUOTE).toWellFormed()}…` : quote
