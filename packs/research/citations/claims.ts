import { blockPiecesIn, leading, MAX_MARKER_DISTANCE, NEXT_SENTENCE } from "./blocks.ts"
import { type Code, isProse } from "./code.ts"
import { italicQuotesIn } from "./italics.ts"
import { type Marker, markersIn } from "./markers.ts"
import { apartFrom, between, groupsOf, MIN_QUOTE, type Quote, quotesIn } from "./quotes.ts"

/**
 * A paragraph of an answer. In `words` code is blanked, because its brackets and marks mean something else; `original` is
 * the original text.
 */
export interface ParagraphText {
  readonly words: string
  readonly original: string
  readonly markers: readonly Marker[]
  /** Positions are relative to the paragraph. */
  readonly codes: readonly Code[]
}

/** Text that an answer quotes, and the markers it belongs to. */
export interface Claim {
  readonly quote: string
  readonly group: number
  /** Its author may be at its end, after a dash. */
  readonly isBlock: boolean
  /** Italics are also used for the user's text and for titles of sources. */
  readonly isItalic?: boolean
}

/**
 * Up to this many words next to a quote in quotation marks introduce it. With more, the whole block quote counts as one
 * quote.
 */
const MAX_BESIDE = 8

/** All quotes of a paragraph: in quotation marks, in blocks, in italics, and sentences formatted as code. */
export function claimsIn(
  { words, original, markers, codes }: ParagraphText,
  isSource: (marker: string) => boolean,
): Claim[] {
  const marked = quotesIn(words)
  const owners = groupsOf(marked, markers, { words, isSource })
  const blocks = blockPiecesIn(words, markers, isSource).filter((piece) => isWhole(words, piece, marked))
  const quotes = marked.map((quote, i) => ({ ...quote, group: owners[i] })).filter(apartFrom(blocks))
  const inCode = sentencesInCode({ words, original, markers, codes }).filter(apartFrom([...blocks, ...marked]))
  const italics = italicQuotesIn({ words, original }, markers, isSource).filter(apartFrom([...blocks, ...marked]))
  const claim = (start: number, end: number) => withoutMarkers(original.slice(start, end), isSource)
  return [
    ...quotes.map(({ start, end, group }) => ({ quote: claim(start + 1, end - 1), group, isBlock: false })),
    ...blocks.map(({ start, end, group }) => ({ quote: claim(start, end), group, isBlock: true })),
    ...italics.map(({ start, end, signs, group }) => ({
      quote: claim(start + signs, end - signs),
      group,
      isBlock: false,
      isItalic: true,
    })),
    ...inCode.map(({ start, end, ticks, group }) => ({
      quote: original.slice(start + ticks, end - ticks).trim(),
      group,
      isBlock: false,
    })),
  ].filter((each): each is Claim => each.group !== undefined && each.quote.length >= MIN_QUOTE)
}

/** True if a piece of a block is more than a quote in quotation marks with a few words around it. */
export function isWhole(words: string, { start, end }: Quote, marked: readonly Quote[]): boolean {
  let rest = ""
  let from = start
  for (const quote of between(marked, start, end)) {
    rest += `${words.slice(from, Math.max(from, quote.start))} `
    from = Math.max(from, quote.end)
  }
  if (from === start) return true
  const beside =
    withoutMarkers(rest + words.slice(from, Math.max(from, end)), () => true).match(/[\p{L}\p{N}]+/gu) ?? []
  return beside.length > MAX_BESIDE
}

/** Sentences formatted as inline code, with the source that their surrounding sentence cites. */
function sentencesInCode({
  words,
  original,
  markers,
  codes,
}: ParagraphText): (Code & { readonly group: number | undefined })[] {
  let next = 0
  return codes
    .filter(({ start, end, ticks, isBlock }) => !isBlock && isProse(original.slice(start + ticks, end - ticks)))
    .map((code) => {
      while (next < markers.length && markers[next]!.start < code.end) next++
      const after = markers[next]
      const until =
        after && after.start - code.end <= MAX_MARKER_DISTANCE ? words.slice(code.end, after.start) : undefined
      // After the full stop it still belongs to the sentence.
      const isNear = until !== undefined && !NEXT_SENTENCE.test(until.replace(/(?<![\s[(])[\s[(]+$/, ""))
      return { ...code, group: isNear ? after?.group : leading(words, code.start, markers[next - 1]) }
    })
}

/** Removes markers inside a quote. */
function withoutMarkers(quote: string, isSource: (marker: string) => boolean): string {
  const markers = markersIn(quote).filter(({ marker }) => isSource(marker))
  if (markers.length === 0) return quote.trim()
  let rest = ""
  let from = 0
  for (const { start, end } of markers) {
    if (start < from) continue
    const before = quote.slice(from, start)
    // Only at a closing bracket, and no further back than the last marker, so that each word is read once.
    const open = quote[end - 1] === "]" ? before.lastIndexOf("[") : -1
    rest += open < 0 ? before : before.slice(0, open)
    from = end
  }
  return (rest + quote.slice(from)).trim()
}
