import type { Marker } from "./markers.ts"
import { own } from "../../../core/pack.ts"

/** Shorter text in quotation marks is not a quote, and neither is a shorter piece of a quote with gaps. */
export const MIN_QUOTE = 12

export interface Quote {
  readonly start: number
  readonly end: number
}

interface Opened {
  readonly mark: string
  readonly at: number
  /** A possible end: an inch mark or an apostrophe looks the same. */
  perhaps?: number
}

const DOUBLE = /["“”„‟«»「」『』｢｣〝〞〟❝❞＂]/g
const SINGLE = /['‘’‚‛‹›]/g
const OPENS = "“„‟«「『｢〝❝‘‚‛‹"
const CLOSES: Readonly<Record<string, string>> = {
  ...{ "“": "”", "„": "“”", "‟": "”", "«": "»", "»": "«", "「": "」", "『": "』" },
  ...{ "｢": "｣", "〝": "〞〟", "❝": "❞", "＂": "＂" },
  ...{ "‘": "’", "‚": "‘’", "‛": "’", "‹": "›", "›": "‹" },
}

/** The text in quotation marks of any kind, outermost only. */
export function quotesIn(words: string): Quote[] {
  const double = outermost(pairsOf(words, DOUBLE, true).filter(long))
  const single = pairsOf(words, SINGLE).filter(long)
  // Apostrophes pair up by chance, so unambiguous quotes take precedence.
  let at = 0
  const apart = outermost(single).filter(({ start, end }) => {
    while (at < double.length && double[at]!.end <= start) at++
    return at >= double.length || double[at]!.start >= end
  })
  return [...double, ...apart].sort((one, other) => one.start - other.start)
}

const long = ({ start, end }: Quote) => end - start - 2 >= MIN_QUOTE

/**
 * `unclosed`: an opening mark without a closing one starts a quote as well, up to the next marker or the end of its
 * line.
 */
function pairsOf(words: string, marks: RegExp, unclosed = false): Quote[] {
  const open: Opened[] = []
  const pairs: Quote[] = []
  const settle = () => {
    const { at, perhaps } = open.at(-1) ?? { at: 0, perhaps: undefined }
    if (perhaps === undefined) return
    pairs.push({ start: at, end: perhaps })
    open.pop()
  }
  for (const { 0: mark, index } of words.matchAll(marks)) {
    const role = roleOf(words, index, open.at(-1))
    if (role === "opens") {
      settle()
      open.push({ mark, at: index })
    }
    const top = open.at(-1)
    if (role !== "closes" || !top) continue
    if (isDoubtful(words, index)) top.perhaps = index + 1
    else pairs.push({ start: (open.pop() as Opened).at, end: index + 1 })
  }
  // From the last to the first, so that no stretch is searched twice.
  let end = words.length
  let looked = words.length
  while (open.length > 0) {
    settle()
    const left = open.pop()
    if (!unclosed || !left || !(OPENS.includes(left.mark) || left.mark === "＂")) continue
    const stop = words.slice(left.at, looked).search(/[[\n]/)
    if (stop >= 0) end = left.at + stop
    looked = left.at
    // As if a closing mark were there.
    pairs.push({ start: left.at, end: end + 1 })
  }
  return pairs.sort((one, other) => one.start - other.start || other.end - one.end)
}

function roleOf(words: string, at: number, top: Opened | undefined): "opens" | "closes" | undefined {
  const mark = words[at] as string
  const [before, after] = [words[at - 1] ?? " ", words[at + 1] ?? " "]
  const inWord = /[\p{L}\p{N}]/u.test(before) && /\p{L}/u.test(after)
  if ("'’".includes(mark) && inWord) return undefined
  if (top && own(CLOSES, top.mark)?.includes(mark)) return "closes"
  if (OPENS.includes(mark) || mark === "＂") return "opens"
  const canOpen = /\S/.test(after) && /[\s([{*_>/|–—-]/.test(before)
  const canClose = /\S/.test(before) && /[\s.,;:!?)\]}*_<…|"'”’»–—-]/.test(after)
  if (mark !== '"' && mark !== "'") return top ? "closes" : canOpen ? "opens" : undefined
  if (canOpen !== canClose) return canOpen ? "opens" : "closes"
  if (mark === "'") return undefined
  return top ? "closes" : "opens"
}

/** 5" has an inch mark and the authors’ an apostrophe, unless a marker follows. */
function isDoubtful(words: string, at: number): boolean {
  const before = words[at - 1] ?? ""
  const looks = words[at] === '"' ? /\d/.test(before) : "'’".includes(words[at] as string) && before === "s"
  return looks && !/^[.,;:]?\s?[[(\n]/.test(words.slice(at + 1, at + 4))
}

function outermost(pairs: readonly Quote[]): Quote[] {
  const disjoint: Quote[] = []
  for (const pair of pairs) if (pair.start >= (disjoint.at(-1)?.end ?? 0)) disjoint.push(pair)
  return disjoint
}

/**
 * A quote belongs to a marker inside it, to the marker after it on its line, or before it there; else to the next, or
 * the last. Other brackets in it are its own text, such as a paper's references.
 */
export function groupsOf(
  quotes: readonly Quote[],
  markers: readonly Marker[],
  { words, isSource }: { readonly words: string; readonly isSource: (marker: string) => boolean },
): (number | undefined)[] {
  const lineAt = linesOf(words)
  let next = 0
  return quotes.map(({ start, end }) => {
    while (next < markers.length && markers[next]!.start < start) next++
    const before = markers[next - 1]
    let behind = next
    for (; behind < markers.length && markers[behind]!.start < end; behind++)
      if (isSource(markers[behind]!.marker)) return markers[behind]!.group
    const after = markers[behind]
    if (after && lineAt(after.start) <= lineAt(end)) return after.group
    if (before && lineAt(start) <= lineAt(before.end)) return before.group
    return (after ?? before)?.group
  })
}

/**
 * Returns the line of a position. Many quotes may be far from one marker, so the text between is not read for each of
 * them.
 */
function linesOf(words: string): (place: number) => number {
  const breaks: number[] = []
  for (let at = words.indexOf("\n"); at >= 0; at = words.indexOf("\n", at + 1)) breaks.push(at)
  return (place) => firstFrom(breaks, (at) => at >= place)
}

/** The quotes that overlap a stretch. They are sorted and do not overlap one another. */
export function between(quotes: readonly Quote[], start: number, end: number): readonly Quote[] {
  const low = firstFrom(quotes, (quote) => quote.end > start)
  let last = low
  while (last < quotes.length && quotes[last]!.start < end) last++
  return quotes.slice(low, last)
}

/** Binary search: the first index at which a condition holds, or the length. */
function firstFrom<Item>(list: readonly Item[], holds: (item: Item) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(list[middle] as Item)) high = middle
    else low = middle + 1
  }
  return low
}

export function apartFrom(others: readonly Quote[]): (quote: Quote) => boolean {
  const ordered = [...others].sort((one, other) => one.start - other.start)
  return ({ start, end }) => between(ordered, start, end).length === 0
}
