import type { Marker } from "./cite-markers.ts"
import { MIN_QUOTE, type Quote } from "./cite-quotes.ts"

/** A stretch of a block quote, and which markers it belongs to. */
export interface BlockPiece extends Quote {
  readonly group: number | undefined
}

const QUOTED = /^[^\S\n]*(?:>[^\S\n]*)+/
const ITEM = /^(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+/
/** A block quote that says that it is the writer's own. */
const ASIDE = /^(?:\[!\w+\]|[*_]{0,3}(?:note|tip|hint|important|warning|caution|caveat)[*_]{0,3}\s?:)/i
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
    const isAside = ASIDE.test(words.slice(lines[0]!.start, lines[0]!.start + NEAR))
    if (isAside) return []
    const around = inside.length > 0 ? undefined : (behind(words, end, named[last]) ?? leading(words, start, before))
    return cut(words, lines, inside).map(({ to, ...piece }) => ({
      ...piece,
      group: (inside.find((marker) => marker.end >= to) ?? inside.at(-1))?.group ?? around,
    }))
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
    const [mark] = QUOTED.exec(line) ?? []
    if (mark === undefined) continue
    const [item] = ITEM.exec(line.slice(mark.length, mark.length + 20)) ?? [""]
    const end = index + line.length
    const read = { start: index + mark.length + item.length, end, isItem: item !== "" }
    const last = blocks.at(-1)
    if (last?.end !== index - 1) blocks.push({ start: index, end, lines: [read] })
    else {
      last.end = end
      last.lines.push(read)
    }
  }
  return blocks
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
  const isNamed =
    between === "" || /^[^\p{L}\p{N}]*$/u.test(between) || /^(?:[—–―]|--|\p{L}{1,12}:)[^\n]*$/u.test(between)
  return isNamed ? marker.group : undefined
}

/** The last source of a sentence that goes on up to here. */
export function leading(words: string, start: number, marker: Marker | undefined): number | undefined {
  if (!marker || start - marker.end > NEAR) return undefined
  const between = words.slice(marker.end, start)
  return FULL_STOP.test(between) || NEXT_SENTENCE.test(between) ? undefined : marker.group
}
