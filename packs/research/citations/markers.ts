export interface Marker {
  readonly marker: string
  /** For a range: the marker as written in the answer. */
  readonly written?: string
  readonly start: number
  readonly end: number
  /** Adjacent markers form a group, because they are about the same text. */
  readonly group: number
}

/** `[id]`, `[id, id]`, `[1]`, `[2–4]`: text with a digit or an underscore in brackets, but not `a[0]`. */
const BRACKETS = /(?<!\w)\[\^?([\w:.–-]+(?:\s*[,;]\s*[\w:.–-]+)*)\]/g
const ID = /[\w:.–-]+/g
const LOOKS_LIKE_ID = /[\d_]/
/** An id with one of our prefixes is a marker anywhere: `(psg_1)`, `[see psg_1, p. 3]`, `so[psg_1]`. */
const OURS = /(?<!\w)(?:psg|web|arxiv|doc)_\w(?:[\w:./-]*\w)?/g
/** … except names of tools and files. */
const NO_OURS = /^(?:web|arxiv|doc)_\D+$|\.[a-z]\w{0,4}$/i
/** A link with its address. A marker in it belongs to the link. */
const LINK =
  /\[[^\][]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)|https?:\/\/[^\s()[\]<>]+/g
/** Text without one of these has no marker. */
const SIGNS = /[[_]/
const BESIDE = /^[^\S\n]*(?:[,;()[\]][^\S\n]*)*$/

const YEAR = /^(?:1[5-9]|20)\d\d[a-z]?$/
const MAX_OF_RANGE = 20

/**
 * Numbers in brackets that are not markers: an interval (`[0, 1]`, `[-1, 1]`, `[0.5, 2]`, `[1, n]`), a year (`[2017]`).
 */
function isNumeric(inside: string): boolean {
  const all = inside.match(ID) ?? []
  if (all.every((each) => YEAR.test(each))) return true
  if (!all.some((each) => /^[-–]?[\d.]+$/.test(each))) return false
  return all.some((each) => /^(?:[-–][\d.]+|0\d*|\d*\.\d+|\p{L})$/u.test(each))
}

/** Expands `2-4` to 2, 3 and 4 if these are sources, all at its position. */
export function withRanges(markers: readonly Marker[], isSource: (marker: string) => boolean): readonly Marker[] {
  if (!markers.some(({ marker }) => /^\d+[–-]\d+$/.test(marker))) return markers
  return markers.flatMap((each) => {
    const [, from, to] = /^(\d{1,6})[–-](\d{1,6})$/.exec(each.marker) ?? []
    const [first, length] = [Number(from), Number(to) - Number(from) + 1]
    if (from === undefined || isSource(each.marker) || !(length > 1 && length <= MAX_OF_RANGE)) return [each]
    const all = Array.from({ length }, (_, index) => String(first + index))
    return all.every(isSource) ? all.map((marker) => ({ ...each, marker, written: each.marker })) : [each]
  })
}

/** All markers in text without code, in order. */
export function markersIn(words: string): Marker[] {
  if (!SIGNS.test(words)) return []
  const prose = words.replaceAll(LINK, (link) => " ".repeat(link.length))
  const found = new Map<number, { marker: string; from: number; end: number }>()
  let last = -1
  for (const match of prose.matchAll(BRACKETS)) {
    // `[words][1]` is a link; `[psg_1][psg_2]` are two markers.
    if (prose[match.index - 1] === "]" && last !== match.index) continue
    if (isNumeric(match[1] as string)) continue
    const inside = match.index + match[0].indexOf(match[1] as string)
    const end = match.index + match[0].length
    for (const id of (match[1] as string).matchAll(ID)) {
      if (!LOOKS_LIKE_ID.test(id[0])) continue
      found.set(inside + id.index, { marker: id[0], from: match.index, end })
      last = end
    }
  }
  for (const { 0: marker, index } of prose.matchAll(OURS)) {
    if (!found.has(index) && !NO_OURS.test(marker))
      found.set(index, { marker, from: index, end: index + marker.length })
  }
  let group = -1
  let before: number | undefined
  return [...found]
    .sort(([one], [other]) => one - other)
    .map(([start, { marker, from, end }]) => {
      if (before === undefined || (from >= before && !BESIDE.test(prose.slice(before, from)))) group++
      before = end
      return { marker, start, end, group }
    })
}
