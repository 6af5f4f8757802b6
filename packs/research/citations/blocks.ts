import { type Marker, markersIn } from "./markers.ts"
import { MIN_QUOTE, type Quote } from "./quotes.ts"

/** A piece of a block quote, and the markers it belongs to. */
export interface BlockPiece extends Quote {
  /** The start and end of its block. */
  readonly block: Quote
  readonly group: number | undefined
}

/** The signs of a block quote, which may be an item of a list. */
export const QUOTED = /^[^\S\n]*((?:(?:[-*+•]|\d{1,3}[.)])[^\S\n]+){0,3})(?:>[^\S\n]*)+/
const ITEM = /^(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+/
/** Starts a callout of the writer, not a quote. If a source is named, the text after it is the source's. */
const LABEL = /^(?:\[!\w+\]|[*_]{0,3}(?:note|tip|hint|important|warning|caution|caveat)[*_]{0,3}\s?:[*_]{0,3})\s*/i
/** A line without the sign of a block quote still belongs to it, unless it starts something else. */
const BEGINS = /^[^\S\n]*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||(?:[-*_][^\S\n]*){3,}$|$)/
const NO_WORDS = /^[^\p{L}\p{N}]*$/u
/** A line that only names the source of those above it. */
const SOURCE = /^\P{L}*(?:sources?|from|in|see|references?)[*_]{0,3}:/iu
const FULL_STOP = /[.!?。！？]["'”’)\]]*\s*$/
export const NEXT_SENTENCE = /[.!?。！？]["'”’)\]]*\s+\S/
/** The greatest distance between a quote and its marker. */
export const MAX_MARKER_DISTANCE = 400

/**
 * Block quotes, split at markers, at empty lines and at list items, because each piece comes from one source. A piece
 * belongs to the marker at its end, to the next one in its block, to the line directly after it, or to the sentence
 * before it.
 */
export function blockPiecesIn(
  words: string,
  markers: readonly Marker[],
  isSource: (marker: string) => boolean,
): BlockPiece[] {
  const named = markers.filter(({ marker }) => isSource(marker))
  let next = 0
  return blocksIn(words).flatMap(({ start, end, lines }) => {
    while (next < named.length && named[next]!.start < start) next++
    const before = named[next - 1]
    let last = next
    while (last < named.length && named[last]!.start < end) last++
    const inside = named.slice(next, last)
    const around = inside.length > 0 ? undefined : (behind(words, end, named[last]) ?? leading(words, start, before))
    let own = 0
    return cut(words, lines, inside).map(({ to, ...piece }) => {
      while (own < inside.length - 1 && inside[own]!.end < to) own++
      return { ...piece, block: { start, end }, group: inside[own]?.group ?? around }
    })
  })
}

interface Line {
  readonly start: number
  readonly end: number
  readonly isItem: boolean
}

interface Block extends Quote {
  readonly lines: readonly Line[]
}

function blocksIn(words: string): Block[] {
  const blocks: (Quote & { end: number; lines: Line[] })[] = []
  for (const { 0: line, index } of words.matchAll(/[^\n]+/g)) {
    const block = blocks.at(-1)
    const last = block?.end === index - 1 ? block : undefined
    const [mark, list] = QUOTED.exec(line) ?? []
    if (mark === undefined && !(last && continues(words, last.lines.at(-1)!, line))) continue
    const [item] = ITEM.exec(line.slice(mark?.length ?? 0).slice(0, 20)) ?? [""]
    const end = index + line.length
    const begin = index + (mark?.length ?? 0) + item.length
    const [label] = (last ? undefined : LABEL.exec(words.slice(begin, Math.min(end, begin + MAX_MARKER_DISTANCE)))) ?? [
      "",
    ]
    const read = {
      start: begin + label.length,
      end: index + line.trimEnd().length,
      isItem: item !== "" || Boolean(list),
    }
    if (last) {
      last.end = end
      last.lines.push(read)
    } else blocks.push({ start: index, end, lines: [read] })
  }
  return blocks
}

/** True if a line without the sign of a block quote continues the one above it. After a question comes the answer. */
function continues(words: string, above: Line, line: string): boolean {
  if (above.start >= above.end || BEGINS.test(line)) return false
  if (/\?[*_\s]*$/.test(words.slice(Math.max(above.start, above.end - 10), above.end))) return false
  const [marker] = markersIn(line.slice(0, MAX_MARKER_DISTANCE))
  const before = line.slice(0, marker?.start ?? 0)
  return !marker || !(NO_WORDS.test(before) || SOURCE.test(before))
}

/** `to`: where its text ends and its marker may start. */
function cut(words: string, lines: readonly Line[], markers: readonly Marker[]): (Quote & { to: number })[] {
  const pieces: (Quote & { to: number })[] = []
  let open: { start: number; end: number } | undefined
  let next = 0
  const close = () => {
    if (open && words.slice(open.start, open.end).trim().length >= MIN_QUOTE) pieces.push({ ...open, to: open.end })
    open = undefined
  }
  for (const { start, end, isItem } of lines) {
    if (isItem || start >= end) close()
    let from = start
    for (; next < markers.length && markers[next]!.start < end; next++) {
      // Adjacent markers are about the same text.
      if (markers[next + 1]?.group === markers[next]!.group) continue
      const to = Math.min(end, markers[next]!.end)
      open = { start: open?.start ?? from, end: to }
      close()
      from = to
      while (from < end && /[\s)\].,;:]/.test(words[from]!)) from++
    }
    if (from < end) open = { start: open?.start ?? from, end }
  }
  close()
  return pieces
}

/** The source at the start of the line after a block, after at most a dash and a name. */
function behind(words: string, end: number, marker: Marker | undefined): number | undefined {
  if (!marker || marker.start - end > MAX_MARKER_DISTANCE) return undefined
  const between = words.slice(end, marker.start).trim()
  const isNamed = NO_WORDS.test(between) || /^(?:[—–―]|--|\p{L}{1,12}:)[^\n]*$/u.test(between)
  return isNamed ? marker.group : undefined
}

/** The last source of the sentence up to here. */
export function leading(words: string, start: number, marker: Marker | undefined): number | undefined {
  if (!marker || start - marker.end > MAX_MARKER_DISTANCE) return undefined
  const between = words.slice(marker.end, start)
  return FULL_STOP.test(between) || NEXT_SENTENCE.test(between) ? undefined : marker.group
}
