import type { Citation, Source } from "../../../core/pack.ts"
import { QUOTED } from "./blocks.ts"
import { claimsIn, type ParagraphText } from "./claims.ts"
import { type Code, codeIn, isProse } from "./code.ts"
import {
  type ClaimDifference,
  findContradiction,
  MAX_PASSAGE,
  readPassage,
  type ReadPassage,
} from "./contradictions.ts"
import { missingFigures, sentencesOf, toOrdered } from "./missing-figures.ts"
import { quotesIn } from "./quotes.ts"
import { convertedValues } from "./quantities.ts"
import { type Marker, markersIn, withRanges } from "./markers.ts"
import { isTitleOf, MAX_OF_AUTHOR, MAX_OF_TITLE, withoutAuthor } from "./titles.ts"
import { type Around, AROUND, attributedQuotes, inventedQuotes, type Unmarked } from "./unmarked-quotes.ts"
import { COST, createWork, MAX_CITATIONS, shortenQuote, type WorkBudget } from "./work-limit.ts"
import { findPieces, fold, type Folded, quotePieces, withoutInsertions } from "./find-quote.ts"

/**
 * Checks the markers of an answer. `userText`: the user's recent text, which may contain numbers. Only passages found in
 * this conversation and text that they contain count; anything else is flagged.
 */
export function cite(
  text: string,
  sources: ReadonlyMap<string, Source>,
  userText = "",
  work = createWork(),
): Citation[] {
  const passages = new Map<string, Passage>()
  const figures = new Map<string, readonly number[]>()
  const saidBy = (marker: string) => {
    const source = sources.get(marker)
    if (!source) return undefined
    const known = figures.get(source.id)
    if (known) return known
    const text = `${source.passage}\n${source.title}`
    if (!work.spend(text.length * COST.readFigures)) return "unread"
    const own = toOrdered(text, convertedValues(source.passage))
    figures.set(source.id, own)
    return own
  }
  const asked = toOrdered(userText)
  const passageOf = (marker: string) => {
    const source = sources.get(marker)
    if (!source) return undefined
    const known = passages.get(source.id)
    if (known) return known
    if (!work.spend(source.passage.length * COST.fold)) return undefined
    const passage = { words: fold(source.passage), title: source.title }
    passages.set(source.id, passage)
    return passage
  }
  const read = new Map<string, ReadPassage>()
  const readBy = (marker: string) => {
    const source = sources.get(marker)
    if (!source) return undefined
    const own = read.get(source.id)
    if (own) return own
    const text = `${source.title}. ${source.date ?? ""}\n${source.passage}`.slice(0, MAX_PASSAGE)
    if (!work.spend(text.length * COST.readSentences)) return undefined
    const passage = readPassage(text)
    read.set(source.id, passage)
    return passage
  }
  const isKnown = lazyKnown(sources, userText, work)
  let left = MAX_CITATIONS
  return paragraphsOf(text).flatMap(({ at, ...paragraph }) => {
    // It cites nothing. Most of a long reply is such, and need not be searched for quotes and numbers.
    if (paragraph.markers.length === 0) return []
    const short = beginningOf(paragraph, left)
    work.unchecked += paragraph.markers.length - short.markers.length
    const markers = withRanges(short.markers, (marker) => sources.has(marker))
    const checked = { ...short, markers }
    left = Math.max(0, left - markers.length)
    const groups = checkGroups(checked, { isSource: (marker) => sources.has(marker), passageOf, isKnown, work })
    const missingIn = missingFigures(checked.words, { markers, saidBy, asked, work })
    const differenceIn = differencesIn(checked.words, { markers, sources, readBy, work })
    return checked.markers.map(({ marker, written = marker, start, group }): Citation => {
      const source = sources.get(marker)
      const hash = source?.hash ? { hash: source.hash } : {}
      const bound = { marker: written, at: at + start, source: source?.id ?? null, ...hash }
      if (!source) return { ...bound, problem: "unknown_source" }
      const { missing, found, isUnchecked } = groups.get(group) ?? NO_QUOTES
      if (missing) return { ...bound, ...missing, problem: "quote_not_found" }
      const strange = missingIn.get(group)
      const difference = differenceIn.get(group)
      const unchecked = isUnchecked ? { unchecked: true } : {}
      return {
        ...bound,
        ...found.get(marker),
        ...(strange ? { figures: strange } : {}),
        ...(difference ? { differs: difference } : {}),
        ...unchecked,
      }
    })
  })
}

/** Quotes without a source that are neither in the found passages nor in the user's text, if there are any passages. */
export function unmarked(
  text: string,
  sources: ReadonlyMap<string, Source>,
  userText = "",
  work = createWork(),
): Unmarked[] {
  if (sources.size === 0) return []
  const given = paragraphsOf(text).flatMap(({ at, ...paragraph }) =>
    attributedQuotes(paragraph).map((each) => ({ ...each, at: at + each.at })),
  )
  return inventedQuotes(given, { sources: new Set(sources.values()), userText, work })
}

interface Compared {
  readonly markers: readonly Marker[]
  readonly sources: ReadonlyMap<string, Source>
  /** Undefined if there is no such source, or if reading it takes too much work. */
  readonly readBy: (marker: string) => ReadPassage | undefined
  readonly work: WorkBudget
}

/** By group of markers: how its sentence differs from all the passages that it cites. */
function differencesIn(words: string, { markers, sources, readBy, work }: Compared): Map<number, ClaimDifference> {
  const found = new Map<number, ClaimDifference>()
  const markersOf = Map.groupBy(markers, ({ group }) => group)
  for (const { words: sentence, groups } of sentencesOf(words, markers)) {
    const named = [...groups].flatMap((group) => markersOf.get(group) ?? [])
    // An unknown source is flagged already, and may contain it.
    if (named.length === 0 || named.some(({ marker }) => !sources.has(marker))) continue
    const passages = new Set(named.map(({ marker }) => readBy(marker)))
    const all = [...passages].filter((passage) => passage !== undefined)
    const isRead = all.length === passages.size
    if (!isRead || !work.spend(sentence.length * (1 + all.reduce((sum, { length }) => sum + length, 0)))) {
      work.unchecked++
      continue
    }
    const difference = findContradiction(withoutQuotes(sentence.slice(0, MAX_COMPARED)), all)
    if (difference) for (const group of groups) found.set(group, difference)
  }
  return found
}

/** The part of a sentence that is compared. */
const MAX_COMPARED = 1_000

/** Quotes are checked word by word, so this comparison leaves them out. */
function withoutQuotes(words: string): string {
  let prose = ""
  for (const { start, end } of quotesIn(words)) {
    prose += words.slice(prose.length, Math.max(prose.length, start))
    prose += " ".repeat(Math.max(0, Math.min(end, words.length) - prose.length))
  }
  return prose + words.slice(prose.length)
}

interface Passage {
  readonly words: Folded
  readonly title: string
}

interface Checked {
  /** The first quote that none of the group's passages contains like this. */
  missing?: { readonly quote: string } & LeftOut
  /** One of them was not checked, because of the work limit. */
  isUnchecked?: boolean
  /** By marker: the first quote that its passage contains. */
  readonly found: Map<string, { readonly quote: string; readonly span: { start: number; end: number } } & LeftOut>
}
interface LeftOut {
  readonly leftOut?: string[]
  readonly because?: "left_out"
}
const NO_QUOTES: Checked = { found: new Map() }

/**
 * Texts that may be in italics next to any marker: the user's text, and titles of sources. Undefined if checking takes
 * too much work.
 */
function lazyKnown(sources: ReadonlyMap<string, Source>, userText: string, work: WorkBudget) {
  let asked: Folded | undefined
  let titles: readonly Source[] | undefined
  let size = 0
  return ({ quote, pieces }: { readonly quote: string; readonly pieces: readonly string[] }): boolean | undefined => {
    if (!titles) {
      titles = [...new Map(Array.from(sources.values(), (source) => [source.id, source])).values()]
      size = titles.reduce((sum, { title }) => sum + title.length + MAX_OF_TITLE, userText.length)
    }
    if (!work.spend(size + quote.length)) return undefined
    return (
      titles.some((source) => isTitleOf(quote, source)) || findPieces((asked ??= fold(userText)), pieces) !== undefined
    )
  }
}

interface Check {
  readonly isSource: (marker: string) => boolean
  /** Undefined if there is no such source, or if reading it takes too much work. */
  readonly passageOf: (marker: string) => Passage | undefined
  readonly isKnown: ReturnType<typeof lazyKnown>
  readonly work: WorkBudget
}

function checkGroups(paragraph: ParagraphText, { isSource, passageOf, isKnown, work }: Check) {
  const members = new Map<number, Set<string>>()
  for (const { group, marker } of paragraph.markers)
    if (isSource(marker)) members.set(group, (members.get(group) ?? new Set()).add(marker))
  const groups = new Map<number, Checked>()
  for (const { quote, group, isBlock, isItalic } of claimsIn(paragraph, isSource)) {
    const checked: Checked = groups.get(group) ?? { found: new Map() }
    groups.set(group, checked)
    const pieces = quotePieces(quote)
    const inserted = withoutInsertions(quote)
    let stands: boolean | undefined = false
    let harmed: string[] | undefined
    // One of several cited passages must contain the quote.
    for (const marker of members.get(group) ?? []) {
      const passage = passageOf(marker)
      if (!passage || !work.spend(passage.words.text.length + passage.title.length + quote.length + MAX_OF_TITLE)) {
        stands ||= undefined
        break
      }
      const claimText = isBlock ? withoutAuthor(quote, passage.title) : quote
      if (claimText === "" || isTitleOf(quote, passage)) stands = true
      const span =
        findPieces(passage.words, pieces) ??
        (inserted === quote ? undefined : findPieces(passage.words, quotePieces(inserted))) ??
        (claimText === quote ? undefined : findPieces(passage.words, quotePieces(claimText)))
      if (!span) continue
      const { start, end, leftOut, harm } = span
      const omission = leftOut ? { leftOut: [...leftOut] } : {}
      if (harm) harmed ??= [...(leftOut ?? [])]
      else stands = true
      if (!harm && !checked.found.has(marker))
        checked.found.set(marker, { quote: shortenQuote(quote), span: { start, end }, ...omission })
    }
    if (stands === false && isItalic) stands = isKnown({ quote, pieces })
    if (stands === undefined) {
      work.unchecked++
      checked.isUnchecked = true
    } else if (!stands)
      checked.missing ??= { quote: shortenQuote(quote), ...(harmed ? { leftOut: harmed, because: "left_out" } : {}) }
  }
  return groups
}

/** The paragraph up to its first `most` markers. The rest is not checked. */
function beginningOf<Words extends ParagraphText>(paragraph: Words, most: number): Words {
  const first = paragraph.markers[most]
  if (!first) return paragraph
  const [words, original] = [paragraph.words.slice(0, first.start), paragraph.original.slice(0, first.start)]
  const codes = paragraph.codes.filter(({ end }) => end <= first.start)
  return { ...paragraph, words, original, codes, markers: paragraph.markers.slice(0, most) }
}

interface Paragraph extends ParagraphText, Around {
  readonly at: number
}

/**
 * Paragraphs between blank lines. One with only markers, or with one word or a dash before them, belongs to the one
 * before it; so does a quote after a colon.
 */
function paragraphsOf(text: string): Paragraph[] {
  const codes = codeIn(text)
  const prose = withTags(blanked(text, codes))
  const spans: { start: number; end: number }[] = []
  let isOpen = false
  for (const { 0: line, index } of prose.matchAll(/[^\n]+|\n\n/g)) {
    const isBlank = line.trim() === ""
    const last = spans.at(-1)
    const continues = isOpen || isBare(line) || (last && isQuote(line) && leadsOn(prose, last.end))
    if (!isBlank && last && continues) last.end = index + line.length
    else if (!isBlank) spans.push({ start: index, end: index + line.length })
    isOpen = !isBlank
  }
  let next = 0
  return spans.map(({ start, end }) => {
    const words = prose.slice(start, end)
    const own = []
    for (; next < codes.length && codes[next]!.start < end; next++) {
      const code = codes[next]!
      if (code.start >= start) own.push({ ...code, start: code.start - start, end: code.end - start })
    }
    const around = { before: prose.slice(Math.max(0, start - AROUND), start), behind: prose.slice(end, end + AROUND) }
    return { words, original: text.slice(start, end), markers: markersIn(words), codes: own, at: start, ...around }
  })
}

/**
 * Blanks code, where brackets mean something else. Sentences in a code block are displayed like a quote, and become
 * one.
 */
function blanked(text: string, codes: readonly Code[]): string {
  let prose = ""
  let from = 0
  for (const { start, end, isBlock } of codes) {
    const quote = isBlock ? asQuote(text.slice(start, end)) : undefined
    prose += text.slice(from, start) + (quote ?? " ".repeat(end - start))
    from = end
  }
  return prose + text.slice(from)
}

const TAGS = /<(\/?)(?:q|blockquote)(?:\s[^<>]*)?>/gi
const ITALICS = /<(\/?)(?:em|i)(?:\s[^<>]*)?>/gi

/** Replaces HTML tags for quotes and italics with marks of the same length, so that positions stay. */
function withTags(prose: string): string {
  return prose
    .replaceAll(TAGS, (tag, closes: string) => (closes ? "”".padEnd(tag.length) : "“".padStart(tag.length)))
    .replaceAll(ITALICS, (tag, closes: string) => (closes ? "*".padEnd(tag.length) : "*".padStart(tag.length)))
}

/** A code block with prose as a block quote in one line, so that positions stay. */
function asQuote(block: string): string | undefined {
  const first = block.indexOf("\n") + 1
  const last = block.lastIndexOf("\n")
  const isClosed = /^[\s>]{0,20}[`~]+$/.test(block.slice(last + 1))
  const end = isClosed ? last : block.length
  if (first === 0 || end <= first || !isProse(block.slice(first, end))) return undefined
  const line = `>${" ".repeat(first - 1)}${block.slice(first, end).replaceAll("\n", " ")}`
  // An empty line ends the quote, because the text after a code block does not belong to it.
  return isClosed ? `${line}\n${">".padEnd(block.length - end - 1)}` : line
}

const isQuote = (line: string) => /^\s{0,3}["“„«「]/.test(line) || QUOTED.test(line)

/** True if the text ends with a colon here. */
function leadsOn(prose: string, end: number): boolean {
  return /:[*_\s]*$/.test(prose.slice(Math.max(0, end - 10), end))
}

function isBare(line: string): boolean {
  const markers = markersIn(line)
  if (markers.length === 0) return false
  let rest = ""
  let from = 0
  for (const { start, end } of markers) {
    rest += line.slice(from, Math.max(from, start))
    from = end
  }
  rest += line.slice(from)
  if (/^\s*(?:[—–―]|--)\s/.test(rest)) return rest.length <= MAX_OF_AUTHOR
  return /^[^\p{L}\p{N}]*(?:\p{L}{1,12}[^\p{L}\p{N}]*)?$/u.test(rest)
}
