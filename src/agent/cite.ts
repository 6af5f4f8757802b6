import type { Citation, Source } from "../protocol/stages.ts"
import { type Marker, markersIn } from "./cite-markers.ts"
import { groupsOf, quotesIn } from "./cite-quotes.ts"
import { findQuote, fold, type Folded } from "./find-quote.ts"

/**
 * What the markers of an answer are bound to. Only passages that were found in this conversation count, and only words
 * that stand in them: whatever a model makes up is flagged, not believed.
 */
export function cite(text: string, sources: ReadonlyMap<string, Source>): Citation[] {
  const passages = new Map<string, Folded>()
  const passageOf = ({ id, passage }: Source) => {
    const folded = passages.get(id) ?? fold(passage)
    passages.set(id, folded)
    return folded
  }
  return paragraphsOf(text).flatMap(({ words, at, markers }) => {
    const groups = checkGroups({ words, told: text.slice(at, at + words.length), markers }, (marker) => {
      const source = sources.get(marker)
      return source && passageOf(source)
    })
    return markers.map(({ marker, start, group }): Citation => {
      const source = sources.get(marker)
      const hash = source?.hash ? { hash: source.hash } : {}
      const bound = { marker, at: at + start, source: source?.id ?? null, ...hash }
      if (!source) return { ...bound, problem: "unknown_source" }
      const { missing, found } = groups.get(group) ?? NO_QUOTES
      if (missing !== undefined) return { ...bound, quote: missing, problem: "quote_not_found" }
      return { ...bound, ...found.get(marker) }
    })
  })
}

interface Checked {
  /** A quote that stands in none of the group's passages. One is enough. */
  missing?: string
  /** By marker: the first quote that stands in its passage. */
  readonly found: Map<string, { readonly quote: string; readonly span: { start: number; end: number } }>
}
const NO_QUOTES: Checked = { found: new Map() }

interface Said {
  readonly words: string
  /** The same with its code, which a quote may hold. */
  readonly told: string
  readonly markers: readonly Marker[]
}

function checkGroups({ words, told, markers }: Said, passageOf: (marker: string) => Folded | undefined) {
  const quotes = quotesIn(words)
  const owners = groupsOf(quotes, markers, words)
  const members = new Map<number, Set<string>>()
  for (const { group, marker } of markers) members.set(group, (members.get(group) ?? new Set()).add(marker))
  const groups = new Map<number, Checked>()
  for (const [index, { start, end }] of quotes.entries()) {
    const group = owners[index]
    if (group === undefined) continue
    const checked: Checked = groups.get(group) ?? { found: new Map() }
    groups.set(group, checked)
    const quote = withoutMarkers(told.slice(start + 1, end - 1))
    let stands = false
    // Several passages behind one quote: it need stand in one of them only.
    for (const marker of members.get(group) ?? []) {
      const passage = passageOf(marker)
      const span = passage && findQuote(passage, quote)
      if (!span) continue
      stands = true
      if (!checked.found.has(marker)) checked.found.set(marker, { quote, span })
    }
    if (!stands) checked.missing ??= quote
  }
  return groups
}

/** A marker inside a quote is not a word of it. */
function withoutMarkers(quote: string): string {
  const markers = markersIn(quote)
  if (markers.length === 0) return quote.trim()
  let rest = ""
  let from = 0
  for (const { start, end } of markers) {
    if (start < from) continue
    const open = quote.lastIndexOf("[", start)
    rest += quote.slice(from, quote[end - 1] === "]" && open >= from ? open : start)
    from = end
  }
  return (rest + quote.slice(from)).trim()
}

interface Paragraph {
  readonly words: string
  readonly at: number
  readonly markers: readonly Marker[]
}

/** Stretches between blank lines. One of nothing but markers, or with one word before them, is about the one before it. */
function paragraphsOf(text: string): Paragraph[] {
  // Code is no prose: brackets in it mean something else.
  const prose = text.replaceAll(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, (code) => " ".repeat(code.length))
  const spans: { start: number; end: number }[] = []
  let isOpen = false
  for (const { 0: line, index } of prose.matchAll(/[^\n]+|\n\n/g)) {
    const isBlank = line.trim() === ""
    const last = spans.at(-1)
    if (!isBlank && last && (isOpen || isBare(line))) last.end = index + line.length
    else if (!isBlank) spans.push({ start: index, end: index + line.length })
    isOpen = !isBlank
  }
  return spans.map(({ start, end }) => {
    const words = prose.slice(start, end)
    return { words, at: start, markers: markersIn(words) }
  })
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
  return /^[^\p{L}\p{N}]*(?:\p{L}{1,12}[^\p{L}\p{N}]*)?$/u.test(rest + line.slice(from))
}
