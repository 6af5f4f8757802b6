/** Titles and authors of sources, which occur next to quotes and are not quotes. */

/** The part of a title that is compared. */
export const MAX_OF_TITLE = 1000

/** True if the text is part of the source's title. */
export function isTitleOf(quote: string, { title }: { readonly title: string }): boolean {
  const called = plain(title)
  return called !== "" && quote.length <= 500 && ` ${called} `.includes(` ${plain(quote)} `)
}

const plain = (text: string) =>
  (
    text
      .slice(0, MAX_OF_TITLE)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(" ")

const SMALL_WORDS = /^(?:al|and|by|chapter|ed|eds|et|for|from|in|no|of|on|p|page|paper|pp|section|see|source|the|vol)$/
export const MAX_OF_AUTHOR = 120
/** Text with more capitalized words is not an author. */
const MAX_NAMES = 4
const AUTHOR = /(?:^|\s)(?:>\s*)*(?:[—–―]|--)\s*([^—–―\n]{1,120})$/

/** A block quote without its author: names, numbers and words of the title after a dash, and nothing else. */
export function withoutAuthor(quote: string, title: string): string {
  const tail = quote.slice(-160)
  const match = AUTHOR.exec(tail)
  if (!match) return quote
  const ofTitle = new Set(title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
  const isName = (word: string) =>
    /^[\p{Lu}\p{N}]/u.test(word) || SMALL_WORDS.test(word) || ofTitle.has(word.toLowerCase())
  const all = (match[1] ?? "").match(/[\p{L}\p{N}]+/gu) ?? []
  const own = all.filter((word) => /^\p{Lu}/u.test(word) && !ofTitle.has(word.toLowerCase()))
  return all.every(isName) && own.length <= MAX_NAMES
    ? quote.slice(0, quote.length - tail.length + match.index).trim()
    : quote
}
