import { type Marker, markersIn } from "./markers.ts"
import { MIN_QUOTE, type Quote } from "./quotes.ts"

/** A stretch of a block quote, and which markers it belongs to. */
export interface BlockPiece extends Quote {
  /** Where its block begins and ends. */
  readonly block: Quote
  readonly group: number | undefined
}

/** The signs of a block quote, which may itself be an item of a list. */
export const QUOTED = /^[^\S\n]*((?:(?:[-*+•]|\d{1,3}[.)])[^\S\n]+){0,3})(?:>[^\S\n]*)+/
const ITEM = /^(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+/
/** What a block quote of the writer's own begins with. Where a source is named, the words behind it are the source's. */
const LABEL = /^(?:\[!\w+\]|[*_]{0,3}(?:note|tip|hint|important|warning|caution|caveat)[*_]{0,3}\s?:[*_]{0,3})\s*/i
/** A line without the sign of a block quote is shown in it all the same, unless it begins something else. */
const BEGINS = /^[^\S\n]*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||(?:[-*_][^\S\n]*){3,}$|$)/
const NO_WORDS = /^[^\p{L}\p{N}]*$/u
/** A line that only says whose words those above it are. */
const SOURCE = /^\P{L}*(?:sources?|from|in|see|references?)[*_]{0,3}:/iu
const FULL_STOP = /[.!?。！？]["'”’)\]]*\s*$/
export const NEXT_SENTENCE = /[.!?。！？]["'”’)\]]*\s+\S/
/** Further away nothing is looked for. */
export const NEAR = 400

/**
 * Block quotes, cut where a source is named in them, at empty lines and at the items of a list: each piece was copied from
 * one place, or was not. A piece belongs to the source that is named at its end, to the next one in its block, to the line
 * right behind it, or to the sentence that leads to it.
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
  /** Where its words begin. */
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
    if (mark === undefined && !(last && goesOn(words, last.lines.at(-1)!, line))) continue
    const [item] = ITEM.exec(line.slice(mark?.length ?? 0).slice(0, 20)) ?? [""]
    const end = index + line.length
    const begin = index + (mark?.length ?? 0) + item.length
    const [label] = (last ? undefined : LABEL.exec(words.slice(begin, Math.min(end, begin + NEAR)))) ?? [""]
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

/** Whether a line without the sign of a block quote is part of the one above it. Behind a question stands the answer. */
function goesOn(words: string, above: Line, line: string): boolean {
  if (above.start >= above.end || BEGINS.test(line)) return false
  if (/\?[*_\s]*$/.test(words.slice(Math.max(above.start, above.end - 10), above.end))) return false
  const [marker] = markersIn(line.slice(0, NEAR))
  const before = line.slice(0, marker?.start ?? 0)
  return !marker || !(NO_WORDS.test(before) || SOURCE.test(before))
}

/** `to`: where its words end, and what names their source may begin. */
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
      // Side by side they are about the same words.
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

/** The source that the line right behind a block begins with, but for a dash and a name. */
function behind(words: string, end: number, marker: Marker | undefined): number | undefined {
  if (!marker || marker.start - end > NEAR) return undefined
  const between = words.slice(end, marker.start).trim()
  const isNamed = NO_WORDS.test(between) || /^(?:[—–―]|--|\p{L}{1,12}:)[^\n]*$/u.test(between)
  return isNamed ? marker.group : undefined
}

/** The last source of a sentence that goes on up to here. */
export function leading(words: string, start: number, marker: Marker | undefined): number | undefined {
  if (!marker || start - marker.end > NEAR) return undefined
  const between = words.slice(marker.end, start)
  return FULL_STOP.test(between) || NEXT_SENTENCE.test(between) ? undefined : marker.group
}
