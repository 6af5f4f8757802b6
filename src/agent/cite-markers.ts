export interface Marker {
  readonly marker: string
  readonly start: number
  readonly end: number
  /** Markers that stand side by side are one group: they are about the same words. */
  readonly group: number
}

/** `[id]`, `[id, id]`, `[1]`: something with a digit or an underscore in brackets. `a[0]` is none. */
const BRACKETS = /(?<!\w)\[\^?([\w:.-]+(?:\s*[,;]\s*[\w:.-]+)*)\]/g
const ID = /[\w:.-]+/g
const LOOKS_LIKE_ID = /[\d_]/
/** What begins as our own ids do points at a source wherever it stands: `(psg_1)`, `[see psg_1, p. 3]`, `so[psg_1]`. */
const OURS = /(?<!\w)(?:psg|web|arxiv|doc)_\w(?:[\w:./-]*\w)?/g
/** … but tools and files have such names too. */
const NO_OURS = /^(?:web|arxiv|doc)_\D+$|\.[a-z]\w{0,4}$/i
/** A link, with its address: a marker in it leads elsewhere, and is seen to. */
const LINK =
  /\[[^\][]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)|https?:\/\/[^\s()[\]<>]+/g
const BESIDE = /^[^\S\n]*(?:[,;()[\]][^\S\n]*)*$/

/** What points at a source in words without code, in their order. */
export function markersIn(words: string): Marker[] {
  const prose = words.replaceAll(LINK, (link) => " ".repeat(link.length))
  const found = new Map<number, { marker: string; from: number; end: number }>()
  let last = -1
  for (const match of prose.matchAll(BRACKETS)) {
    // `[words][1]` is a link's; `[psg_1][psg_2]` are two markers.
    if (prose[match.index - 1] === "]" && last !== match.index) continue
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
