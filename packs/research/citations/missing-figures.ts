import { figuresIn, type Figure, valuesIn } from "./figures.ts"
import type { Marker } from "./markers.ts"
import type { WorkBudget } from "./work-limit.ts"

/** The most missing numbers that are reported per sentence. */
const MAX_REPORTED = 5
/** The cost of a binary search among some thousand numbers. */
const COST_OF_LOOKING = 20
/** Longer sentences are lists, whose numbers are not added up. */
const MAX_ADDED = 12
const SENTENCE_END = /[.!?。！？]["'”’»)*_]*\s+(?=[\p{Lu}\p{Lo}"“„«([*_])|\n/gu

export interface MarkedSentence {
  readonly words: string
  readonly groups: Set<number>
}

interface Known {
  readonly markers: readonly Marker[]
  /** The numbers of a source and its title; undefined if it is unknown, "unread" if reading it takes too much work. */
  readonly saidBy: (marker: string) => readonly number[] | "unread" | undefined
  /** Numbers in the user's text. */
  readonly asked: readonly number[]
  readonly work: WorkBudget
}

/** By group of markers: numbers of its sentence that none of its sources contains. */
export function missingFigures(words: string, { markers, saidBy, asked, work }: Known): Map<number, string[]> {
  const missing = new Map<number, string[]>()
  const markersOf = Map.groupBy(markers, ({ group }) => group)
  for (const sentence of sentencesOf(words, markers)) {
    const named = [...sentence.groups].flatMap((group) => markersOf.get(group) ?? [])
    const figures = figuresIn(sentence.words)
    // Most sentences have none, so no passage need be read for its numbers.
    if (named.length === 0 || figures.length === 0) continue
    const cited = named.map(({ marker }) => saidBy(marker))
    // An unknown source is flagged already, and may contain it.
    if (cited.includes(undefined)) continue
    const sets = [...new Set([asked, ...(cited as (readonly number[])[])])]
    if (cited.includes("unread") || !work.spend(figures.length * sets.length * COST_OF_LOOKING)) {
      work.unchecked++
      continue
    }
    const strange = figures.filter((figure) => !sets.some((set) => includesFigure(set, figure)))
    const years = [...sentence.words.matchAll(/\b(?:1[5-9]|20)\d\d\b/g)]
      .slice(0, MAX_ADDED)
      .map(([year]) => Number(year))
    const isSpan = ({ values: [value] }: Figure) => years.some((one) => years.some((other) => other - one === value))
    const unsupported = strange
      .filter((figure) => !isDerived(figure, figures) && !isSpan(figure))
      .map(({ text }) => text)
    if (unsupported.length === 0) continue
    const first = [...new Set(unsupported)].slice(0, MAX_REPORTED)
    for (const group of sentence.groups) missing.set(group, first)
  }
  return missing
}

/** Sentences with their markers. A marker after the full stop belongs to the sentence before it. */
export function sentencesOf(words: string, markers: readonly Marker[]): MarkedSentence[] {
  const found: MarkedSentence[] = []
  let from = 0
  let next = 0
  let isLineStart = true
  const take = (end: number) => {
    const groups = new Set<number>()
    let at = from
    let isBehind = !isLineStart
    for (; next < markers.length && markers[next]!.start < end; next++) {
      const { start, group } = markers[next]!
      // Only the text since the previous marker, so that no word is read twice.
      if (isBehind) isBehind = !/[\p{L}\p{N}]/u.test(words.slice(at, start))
      at = markers[next]!.end
      const before = isBehind ? found.at(-1) : undefined
      ;(before?.groups ?? groups).add(group)
    }
    found.push({ words: withoutBrackets(words.slice(from, end)), groups })
  }
  for (const { 0: stop, index } of words.matchAll(SENTENCE_END)) {
    take(index + 1)
    from = index + stop.length
    isLineStart = stop.includes("\n")
  }
  take(words.length)
  return found
}

const withoutBrackets = (text: string): string =>
  text.replaceAll(/\[[^[\]\n]{0,400}(?:\]|$)/g, (inside) => " ".repeat(inside.length))

/** Sorted, for binary search. */
export const toOrdered = (text: string, more: readonly number[] = []): readonly number[] =>
  [...valuesIn(text), ...more].sort((one, other) => one - other)

/** As written, or rounded to the same number of digits. */
function includesFigure(ordered: readonly number[], { values, slack }: Figure): boolean {
  return values.some((value) => {
    const near = slack(value)
    let [low, high] = [0, ordered.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (ordered[middle]! < value - near) low = middle + 1
      else high = middle
    }
    return low < ordered.length && ordered[low]! <= value + near
  })
}

/** The sum or the difference of two other numbers of the sentence. */
function isDerived(figure: Figure, all: readonly Figure[]): boolean {
  const others = all.slice(0, MAX_ADDED).filter((other) => other !== figure)
  const near = (value: number) => figure.values.some((own) => Math.abs(own - value) <= figure.slack(own))
  return others.some(({ values: [one = 0] }, index) =>
    others.slice(index + 1).some(({ values: [other = 0] }) => near(Math.abs(one - other)) || near(one + other)),
  )
}
