import type { Citation, Source } from "../protocol/stages.ts"

/** Shorter ones are words with marks around them, not quotes. */
const MIN_QUOTE = 12

/**
 * What the markers of an answer are bound to. Only passages that were found in this conversation count, and only words
 * that stand in them: whatever a model makes up is flagged, not believed.
 */
export function cite(text: string, sources: ReadonlyMap<string, Source>): Citation[] {
  return paragraphsOf(text).flatMap(({ words, at }) => {
    const markers = markersIn(words)
    const quotes = quotesIn(words)
    return markers.map(({ marker, start, group }): Citation => {
      const source = sources.get(marker)
      const bound = {
        marker,
        at: at + start,
        source: source?.id ?? null,
        ...(source?.hash ? { hash: source.hash } : {}),
      }
      if (!source) return { ...bound, problem: "unknown_source" }
      const quote = quotes.find((candidate) => groupOf(candidate, markers) === group)
      if (!quote) return bound
      const span = findIn(source.passage, quote.words)
      if (span) return { ...bound, quote: quote.words, span }
      // Two passages behind one quote: it need stand in one of them only.
      const others = markers.filter((other) => other.group === group && other.marker !== marker)
      const elsewhere = others.some((other) => findIn(sources.get(other.marker)?.passage ?? "", quote.words))
      return elsewhere ? bound : { ...bound, quote: quote.words, problem: "quote_not_found" }
    })
  })
}

interface Paragraph {
  readonly words: string
  readonly at: number
}

/** Code is no prose: brackets in it mean something else. */
function paragraphsOf(text: string): Paragraph[] {
  const prose = text.replaceAll(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, (code) => " ".repeat(code.length))
  const found: Paragraph[] = []
  for (const match of prose.matchAll(/[^\n]+/g)) found.push({ words: match[0], at: match.index })
  return found
}

interface Marker {
  readonly marker: string
  readonly start: number
  readonly end: number
  /** Markers that stand side by side are one group: they are about the same words. */
  readonly group: number
}

/** `[id]`, `[id, id]`, `[1]`: something with a digit or an underscore in brackets, and no link. */
const BRACKETS = /(?<![\w\]])\[\^?([\w:.-]+(?:\s*[,;]\s*[\w:.-]+)*)\](?!\()/g
const ID = /[\w:.-]+/g
const LOOKS_LIKE_ID = /[\d_]/

function markersIn(words: string): Marker[] {
  const markers: Marker[] = []
  let group = -1
  let last = -1
  for (const match of words.matchAll(BRACKETS)) {
    const inside = match.index + match[0].indexOf(match[1] as string)
    const end = match.index + match[0].length
    const ids = [...(match[1] as string).matchAll(ID)].filter(([id]) => LOOKS_LIKE_ID.test(id))
    if (ids.length === 0) continue
    if (last < 0 || /\S/.test(words.slice(last, match.index))) group++
    last = end
    for (const id of ids) markers.push({ marker: id[0], start: inside + id.index, end, group })
  }
  return markers
}

interface Quote {
  readonly words: string
  readonly start: number
  readonly end: number
}

function quotesIn(words: string): Quote[] {
  return [...words.matchAll(/"([^"]+)"|“([^”]+)”|«([^»]+)»/g)].flatMap((match) => {
    const quoted = (match[1] ?? match[2] ?? match[3] ?? "").trim()
    return quoted.length < MIN_QUOTE ? [] : [{ words: quoted, start: match.index, end: match.index + match[0].length }]
  })
}

/** A quote belongs to the markers that follow it, or to the last ones before it where none do. */
function groupOf({ start, end }: Quote, markers: readonly Marker[]): number | undefined {
  return (markers.find((marker) => marker.start >= end) ?? markers.findLast((marker) => marker.end <= start))?.group
}

/** Where a quote stands in a passage, whatever marks, spaces and case it was copied with; what was left out by dots may lie between. */
function findIn(passage: string, quote: string): { start: number; end: number } | undefined {
  const folded = fold(passage)
  const pieces = quote.split(/\s*(?:\[?(?:\.{3}|…)\]?)\s*/).filter((piece) => piece.trim() !== "")
  let from = 0
  let start: number | undefined
  let end = 0
  for (const piece of pieces) {
    const wanted = fold(piece.replace(/[.,;:]+$/, "")).text.trim()
    const at = wanted === "" ? -1 : folded.text.indexOf(wanted, from)
    if (at < 0) return undefined
    from = at + wanted.length
    start ??= folded.at[at]
    end = (folded.at[from - 1] ?? 0) + 1
  }
  return start === undefined ? undefined : { start, end }
}

/** A text as quotes are compared in, and where each of its characters came from. */
function fold(text: string): { readonly text: string; readonly at: readonly number[] } {
  let folded = ""
  const at: number[] = []
  for (let index = 0; index < text.length; index++) {
    const unit = plain(text[index] as string)
    if (unit === " " && (folded === "" || folded.endsWith(" "))) continue
    folded += unit
    for (let copy = 0; copy < unit.length; copy++) at.push(index)
  }
  return { text: folded, at }
}

function plain(character: string): string {
  if (/\s/.test(character)) return " "
  if (/[‘’‚‛′]/.test(character)) return "'"
  if (/[“”„‟″«»]/.test(character)) return '"'
  if (/[‐-―−]/.test(character)) return "-"
  if (/[*_`]/.test(character)) return ""
  return character.normalize("NFKC").toLowerCase()
}
