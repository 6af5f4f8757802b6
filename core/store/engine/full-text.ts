import { queryGrams, removeUnspaced } from "./text-grams.ts"

/** A full-text search in some collections of one person. */
export interface WordQuery {
  readonly person: string
  readonly collections: readonly string[]
  /** From `searchWords` or `queryGrams`: they contain no query syntax. At least one. */
  readonly words: readonly string[]
  /** The index to search. */
  readonly among: "words" | "grams"
  readonly days?: { readonly from?: number; readonly to?: number }
  readonly limit: number
  /** For an engine that ranks before it filters: how many matches to rank at least. */
  readonly depth?: number
}

interface Query {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Full-text search of an engine, best first. */
export interface FullText {
  /** Statements of the schema. */
  readonly statements: readonly string[]
  /** Rows of `edition`, `ordinal` and `score`: passages with any of the words. */
  search(query: WordQuery): Query
  /** How many passages have each word, up to `limit`: rows of `n`. */
  count(query: WordQuery): Query
}

/** Limits of a search: the first words, and the length of each. */
const MAX_WORDS = 32
const MAX_LETTERS = 64

/** The search terms of a question for each of the two indexes. */
export function toWordQueries(
  text: string,
): readonly { readonly among: WordQuery["among"]; readonly words: string[] }[] {
  const both = [
    { among: "words" as const, words: searchWords(removeUnspaced(text)) },
    { among: "grams" as const, words: queryGrams(text).slice(0, MAX_WORDS) },
  ]
  return both.filter(({ words }) => words.length > 0)
}

/** The distinct words of a text. Only letters, digits and marks remain, so no engine can take one for syntax. */
export function searchWords(text: string): string[] {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const significant = words.filter((word) => !STOP_WORDS.has(word) && word.length <= MAX_LETTERS)
  return [...new Set(significant.length > 0 ? significant : words.filter((word) => word.length <= MAX_LETTERS))].slice(
    0,
    MAX_WORDS,
  )
}

/**
 * The words that a search can afford: the rarest first, until too many passages would have to be ranked. The others are
 * so common that they hardly distinguish passages. At least two.
 */
export function rarestWords(
  counts: readonly { readonly word: string; readonly passages: number }[],
  most: number,
): string[] {
  let sum = 0
  return [...counts]
    .sort((a, b) => a.passages - b.passages)
    .filter(({ passages }, place) => (sum += passages) <= most || place < 2)
    .map(({ word }) => word)
}

/** Conditions on the rows of a search: the date must match. */
export function daysCondition({ days }: WordQuery): { readonly sql: string; readonly values: readonly number[] } {
  const parts = [
    ...(days?.from === undefined ? [] : [{ sql: " AND document.day >= ?", value: days.from }]),
    ...(days?.to === undefined ? [] : [{ sql: " AND document.day <= ?", value: days.to }]),
  ]
  return { sql: parts.map(({ sql }) => sql).join(""), values: parts.map(({ value }) => value) }
}

/** Words in nearly every English passage. They do not distinguish passages and are expensive to search. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after all also an and any are as at be because been before being between both but by can could did do does
  doing during each for from further had has have having he her here him his how i if in into is it its me more most my
  no nor not of off on once only or other our out over own same she should so some such than that the their them then
  there these they this those through to too under until up very was we were what when where which while who whom why
  will with would you your`.split(/\s+/),
)
