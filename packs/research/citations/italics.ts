import type { Marker } from "./markers.ts"
import { groupsOf, type Quote } from "./quotes.ts"
import { isAttributed, isSentence } from "./attribution.ts"

/** A stretch in italics, including its marks. */
export interface Italic extends Quote {
  /** How many marks are at each end. */
  readonly signs: number
}

const WORD = /[\p{L}\p{N}]/u
/** The greatest distance between a quote and its marker. */
const NEAR = 40

/** `*…*`, `_…_`, and three marks for bold italics. Two are bold, which is not used for quotes. */
export function italicsIn(words: string): Italic[] {
  const open = new Map<string, { readonly at: number; readonly signs: number }>()
  const found: Italic[] = []
  for (const { 0: run, index } of words.matchAll(/\*+|_+/g)) {
    const signs = run.length
    if (signs !== 1 && signs !== 3) continue
    const [before, after] = [words[index - 1] ?? " ", words[index + signs] ?? " "]
    const opened = open.get(run[0] as string)
    if (opened?.signs === signs && /\S/.test(before) && !WORD.test(after)) {
      found.push({ start: opened.at, end: index + signs, signs })
      open.clear()
    } else if (/\S/.test(after) && !WORD.test(before)) open.set(run[0] as string, { at: index, signs })
  }
  return found
}

/** Text in italics that is attributed: by words, or as a whole sentence with a marker. */
export function italicQuotesIn(
  { words, original }: { readonly words: string; readonly original: string },
  markers: readonly Marker[],
  isSource: (marker: string) => boolean,
): (Italic & { readonly group: number | undefined })[] {
  const long = italicsIn(words).filter(({ start, end, signs }) =>
    isSentence(original.slice(start + signs, end - signs)),
  )
  const owners = groupsOf(long, markers, { words, isSource })
  let next = 0
  return long.flatMap((italic, index) => {
    const { start, end } = italic
    if (isAttributed(words, start, end)) return [{ ...italic, group: owners[index] }]
    while (next < markers.length && markers[next]!.start < end) next++
    const group = isWholeSentence(words, italic) ? namedRightBehind(words, end, markers[next]) : undefined
    return group === undefined ? [] : [{ ...italic, group }]
  })
}

/** True if a sentence starts here. Its marker shows where it ends. */
function isWholeSentence(words: string, { start }: Quote): boolean {
  const before = words.slice(Math.max(0, start - NEAR), start)
  const line = before.slice(before.lastIndexOf("\n") + 1)
  return /[.!?。！？\]]["'”’)]*\s+$/.test(before) || /^[\s>#•+*-]*(?:\d{1,3}[.)]\s+)?$/.test(line)
}

function namedRightBehind(words: string, end: number, marker: Marker | undefined): number | undefined {
  if (!marker || marker.start - end > NEAR) return undefined
  return WORD.test(words.slice(end, marker.start)) ? undefined : marker.group
}
