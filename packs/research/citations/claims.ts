import { blockPiecesIn, leading, NEAR, NEXT_SENTENCE } from "./blocks.ts"
import { type Code, isProse } from "./code.ts"
import { italicQuotesIn } from "./italics.ts"
import { type Marker, markersIn } from "./markers.ts"
import { apartFrom, between, groupsOf, MIN_QUOTE, type Quote, quotesIn } from "./quotes.ts"

/** A paragraph of an answer. Code is blanked in `words`, where brackets and marks would mean something else, not in `told`. */
export interface ParagraphText {
  readonly words: string
  readonly told: string
  readonly markers: readonly Marker[]
  /** Of this paragraph, counted from its beginning. */
  readonly codes: readonly Code[]
}

/** Words that an answer says are another's, and which markers they belong to. */
export interface Claim {
  readonly quote: string
  readonly group: number
  /** Who said it may stand at its end, behind a dash. */
  readonly isBlock: boolean
  /** Italics are also for what the person has said, and for titles of any source. */
  readonly isItalic?: boolean
}

/**
 * Up to this many words beside a quote in quotation marks are its introduction; with more, the whole block quote counts
 * as one quote.
 */
const MAX_BESIDE = 8

/** Everything that a paragraph quotes: in quotation marks, as a block, in italics, or in the marks of code where it is a sentence. */
export function claimsIn(
  { words, told, markers, codes }: ParagraphText,
  isSource: (marker: string) => boolean,
): Claim[] {
  const marked = quotesIn(words)
  const owners = groupsOf(marked, markers, { words, isSource })
  const blocks = blockPiecesIn(words, markers, isSource).filter((piece) => isWhole(words, piece, marked))
  const quotes = marked.map((quote, i) => ({ ...quote, group: owners[i] })).filter(apartFrom(blocks))
  const inCode = sentencesInCode({ words, told, markers, codes }).filter(apartFrom([...blocks, ...marked]))
  const italics = italicQuotesIn({ words, told }, markers, isSource).filter(apartFrom([...blocks, ...marked]))
  const claim = (start: number, end: number) => withoutMarkers(told.slice(start, end), isSource)
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
      quote: told.slice(start + ticks, end - ticks).trim(),
      group,
      isBlock: false,
    })),
  ].filter((each): each is Claim => each.group !== undefined && each.quote.length >= MIN_QUOTE)
}

/** Whether a piece of a block is more than a quote in its own marks and a few words around it. */
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

/** Code between words that is a sentence, with the source that its own sentence names. */
function sentencesInCode({
  words,
  told,
  markers,
  codes,
}: ParagraphText): (Code & { readonly group: number | undefined })[] {
  let next = 0
  return codes
    .filter(({ start, end, ticks, isBlock }) => !isBlock && isProse(told.slice(start + ticks, end - ticks)))
    .map((code) => {
      while (next < markers.length && markers[next]!.start < code.end) next++
      const after = markers[next]
      const until = after && after.start - code.end <= NEAR ? words.slice(code.end, after.start) : undefined
      // Behind the full stop it still belongs to the sentence.
      const isNear = until !== undefined && !NEXT_SENTENCE.test(until.replace(/(?<![\s[(])[\s[(]+$/, ""))
      return { ...code, group: isNear ? after?.group : leading(words, code.start, markers[next - 1]) }
    })
}

/** A source named inside a quote is not a word of it. */
function withoutMarkers(quote: string, isSource: (marker: string) => boolean): string {
  const markers = markersIn(quote).filter(({ marker }) => isSource(marker))
  if (markers.length === 0) return quote.trim()
  let rest = ""
  let from = 0
  for (const { start, end } of markers) {
    if (start < from) continue
    const before = quote.slice(from, start)
    // Only where a bracket ends, and no further back than the last one: each word is looked at once.
    const open = quote[end - 1] === "]" ? before.lastIndexOf("[") : -1
    rest += open < 0 ? before : before.slice(0, open)
    from = end
  }
  return (rest + quote.slice(from)).trim()
}
