import type { Citation, Source } from "../../../core/protocol/conversation/stages.ts"
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
import { type Around, AROUND, givenTo, madeUp, type Unmarked } from "./unmarked-quotes.ts"
import { COST, createWork, MAX_CITATIONS, toldQuote, type WorkBudget } from "./work-limit.ts"
import { findPieces, fold, type Folded, quotePieces, withoutInsertions } from "./find-quote.ts"

/**
 * What the markers of an answer are bound to. `said`: what the person has said, who may have named a number. Only passages that were found in this conversation count, and only words
 * that stand in them: whatever a model makes up is flagged, not believed.
 */
export function cite(text: string, sources: ReadonlyMap<string, Source>, said = "", work = createWork()): Citation[] {
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
  const asked = toOrdered(said)
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
  const isKnown = lazyKnown(sources, said, work)
  let left = MAX_CITATIONS
  return paragraphsOf(text).flatMap(({ at, ...paragraph }) => {
    // Nothing is bound by it: a long reply is mostly such, and each would be read for quotes and numbers in vain.
    if (paragraph.markers.length === 0) return []
    const short = beginningOf(paragraph, left)
    work.unchecked += paragraph.markers.length - short.markers.length
    const markers = withRanges(short.markers, (marker) => sources.has(marker))
    const said = { ...short, markers }
    left = Math.max(0, left - markers.length)
    const groups = checkGroups(said, { isSource: (marker) => sources.has(marker), passageOf, isKnown, work })
    const missingIn = missingFigures(said.words, { markers, saidBy, asked, work })
    const differenceIn = differencesIn(said.words, { markers, sources, readBy, work })
    return said.markers.map(({ marker, told = marker, start, group }): Citation => {
      const source = sources.get(marker)
      const hash = source?.hash ? { hash: source.hash } : {}
      const bound = { marker: told, at: at + start, source: source?.id ?? null, ...hash }
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

/** Quotes that name no source, in an answer that had some, and that stand in none of them nor in what the person said. */
export function unmarked(
  text: string,
  sources: ReadonlyMap<string, Source>,
  said = "",
  work = createWork(),
): Unmarked[] {
  if (sources.size === 0) return []
  const given = paragraphsOf(text).flatMap(({ at, ...said }) =>
    givenTo(said).map((each) => ({ ...each, at: at + each.at })),
  )
  return madeUp(given, { sources: new Set(sources.values()), said, work })
}

interface Compared {
  readonly markers: readonly Marker[]
  readonly sources: ReadonlyMap<string, Source>
  /** Undefined if there is no such source, or if reading it is too much work. */
  readonly readBy: (marker: string) => ReadPassage | undefined
  readonly work: WorkBudget
}

/** By group of markers: how its sentence differs from all the passages that it names. */
function differencesIn(words: string, { markers, sources, readBy, work }: Compared): Map<number, ClaimDifference> {
  const found = new Map<number, ClaimDifference>()
  const markersOf = Map.groupBy(markers, ({ group }) => group)
  for (const { words: sentence, groups } of sentencesOf(words, markers)) {
    const named = [...groups].flatMap((group) => markersOf.get(group) ?? [])
    // An unknown source is flagged already, and may have said it.
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

/** A sentence is compared up to here. */
const MAX_COMPARED = 1_000

/** Quotes are looked for word by word, and need no comparison. */
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
  /** A quote that stands in none of the group's passages, or not so. One is enough. */
  missing?: { readonly quote: string } & LeftOut
  /** There was no room left for one of them. */
  isUnchecked?: boolean
  /** By marker: the first quote that stands in its passage. */
  readonly found: Map<string, { readonly quote: string; readonly span: { start: number; end: number } } & LeftOut>
}
interface LeftOut {
  readonly leftOut?: string[]
  readonly because?: "left_out"
}
const NO_QUOTES: Checked = { found: new Map() }

/** What may stand in italics beside any marker: what the person has said, and what a source is called. Undefined: too much to look at. */
function lazyKnown(sources: ReadonlyMap<string, Source>, said: string, work: WorkBudget) {
  let asked: Folded | undefined
  let titles: readonly Source[] | undefined
  let size = 0
  return ({ quote, pieces }: { readonly quote: string; readonly pieces: readonly string[] }): boolean | undefined => {
    if (!titles) {
      titles = [...new Map(Array.from(sources.values(), (source) => [source.id, source])).values()]
      size = titles.reduce((sum, { title }) => sum + title.length + MAX_OF_TITLE, said.length)
    }
    if (!work.spend(size + quote.length)) return undefined
    return titles.some((source) => isTitleOf(quote, source)) || findPieces((asked ??= fold(said)), pieces) !== undefined
  }
}

interface Check {
  readonly isSource: (marker: string) => boolean
  /** Undefined if there is no such source, or if reading it is too much work. */
  readonly passageOf: (marker: string) => Passage | undefined
  readonly isKnown: ReturnType<typeof lazyKnown>
  readonly work: WorkBudget
}

function checkGroups(said: ParagraphText, { isSource, passageOf, isKnown, work }: Check) {
  const members = new Map<number, Set<string>>()
  for (const { group, marker } of said.markers)
    if (isSource(marker)) members.set(group, (members.get(group) ?? new Set()).add(marker))
  const groups = new Map<number, Checked>()
  for (const { quote, group, isBlock, isItalic } of claimsIn(said, isSource)) {
    const checked: Checked = groups.get(group) ?? { found: new Map() }
    groups.set(group, checked)
    const pieces = quotePieces(quote)
    const inserted = withoutInsertions(quote)
    let stands: boolean | undefined = false
    let harmed: string[] | undefined
    // Several passages behind one quote: it need stand in one of them only.
    for (const marker of members.get(group) ?? []) {
      const passage = passageOf(marker)
      if (!passage || !work.spend(passage.words.text.length + passage.title.length + quote.length + MAX_OF_TITLE)) {
        stands ||= undefined
        break
      }
      const said = isBlock ? withoutAuthor(quote, passage.title) : quote
      if (said === "" || isTitleOf(quote, passage)) stands = true
      const span =
        findPieces(passage.words, pieces) ??
        (inserted === quote ? undefined : findPieces(passage.words, quotePieces(inserted))) ??
        (said === quote ? undefined : findPieces(passage.words, quotePieces(said)))
      if (!span) continue
      const { start, end, leftOut, harm } = span
      const told = leftOut ? { leftOut: [...leftOut] } : {}
      if (harm) harmed ??= [...(leftOut ?? [])]
      else stands = true
      if (!harm && !checked.found.has(marker))
        checked.found.set(marker, { quote: toldQuote(quote), span: { start, end }, ...told })
    }
    if (stands === false && isItalic) stands = isKnown({ quote, pieces })
    if (stands === undefined) {
      work.unchecked++
      checked.isUnchecked = true
    } else if (!stands)
      checked.missing ??= { quote: toldQuote(quote), ...(harmed ? { leftOut: harmed, because: "left_out" } : {}) }
  }
  return groups
}

/** A paragraph up to where it has so many markers. What follows belongs to others, which nobody looks at. */
function beginningOf<Words extends ParagraphText>(said: Words, most: number): Words {
  const first = said.markers[most]
  if (!first) return said
  const [words, told] = [said.words.slice(0, first.start), said.told.slice(0, first.start)]
  const codes = said.codes.filter(({ end }) => end <= first.start)
  return { ...said, words, told, codes, markers: said.markers.slice(0, most) }
}

interface Paragraph extends ParagraphText, Around {
  readonly at: number
}

/**
 * Stretches between blank lines. One of nothing but markers, or with one word or a dash before them, is about the one
 * before it; so is a quote that the one before it leads to with a colon.
 */
function paragraphsOf(text: string): Paragraph[] {
  const codes = codeIn(text)
  const prose = withTags(blanked(text, codes))
  const spans: { start: number; end: number }[] = []
  let isOpen = false
  for (const { 0: line, index } of prose.matchAll(/[^\n]+|\n\n/g)) {
    const isBlank = line.trim() === ""
    const last = spans.at(-1)
    const goesOn = isOpen || isBare(line) || (last && isQuote(line) && leadsOn(prose, last.end))
    if (!isBlank && last && goesOn) last.end = index + line.length
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
    return { words, told: text.slice(start, end), markers: markersIn(words), codes: own, at: start, ...around }
  })
}

/** Code is no prose: brackets in it mean something else. Sentences in a block of code are shown as a quote, and are one. */
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

/** Quotes and italics in the tags of HTML, in marks instead, so that each word stays where it is. */
function withTags(prose: string): string {
  return prose
    .replaceAll(TAGS, (tag, closes: string) => (closes ? "”".padEnd(tag.length) : "“".padStart(tag.length)))
    .replaceAll(ITALICS, (tag, closes: string) => (closes ? "*".padEnd(tag.length) : "*".padStart(tag.length)))
}

/** A block of code that is prose, as a block quote of one line, so that each word stays where it is. */
function asQuote(block: string): string | undefined {
  const first = block.indexOf("\n") + 1
  const last = block.lastIndexOf("\n")
  const isClosed = /^[\s>]{0,20}[`~]+$/.test(block.slice(last + 1))
  const end = isClosed ? last : block.length
  if (first === 0 || end <= first || !isProse(block.slice(first, end))) return undefined
  const line = `>${" ".repeat(first - 1)}${block.slice(first, end).replaceAll("\n", " ")}`
  // An empty line of the quote ends it: what follows a block of code is no part of it.
  return isClosed ? `${line}\n${">".padEnd(block.length - end - 1)}` : line
}

const isQuote = (line: string) => /^\s{0,3}["“„«「]/.test(line) || QUOTED.test(line)

/** Whether what ends here ends with a colon. */
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
