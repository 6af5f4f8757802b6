interface Node {
  type: string
  value?: string
  children?: Node[]
  data?: unknown
  position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } }
  /** The label of a reference. */
  label?: string
  referenceType?: string
}

const SKIPPED = new Set(["link", "code", "inlineCode", "definition"])

/** As on the server: a text with one of our id prefixes is a marker without brackets. */
const OURS = /^(?:psg|web|arxiv|doc)_/

/**
 * A marker that the server has found: its text, its position in the drawn text, and its index among all of the
 * answer's.
 */
export interface Placed {
  readonly marker: string
  readonly at: number
  readonly index: number
}

/**
 * Converts the markers that the server has found in a reply to elements, each bound to the server's data for this
 * position. They are created only here: no text of a model can imitate one, and no definition in the text can change
 * one.
 */
export function citationMarks(placed: readonly Placed[]) {
  const markers = [...new Set(placed.map(({ marker }) => marker))]
  const patterns = { any: patternOf(markers), ours: patternOf(markers.filter((id) => OURS.test(id))) }
  const places = new Set(placed.map(({ marker, at }) => `${at} ${marker}`))
  const isAt: Known["isAt"] = (marker, { value = "", position }, at) => {
    const { start, end } = position ?? {}
    const isPlain = start?.offset !== undefined && (end?.offset ?? 0) - start.offset === value.length
    return isPlain ? places.has(`${(start.offset ?? 0) + at} ${marker}`) : undefined
  }
  return () => (tree: Node) => mark(tree, { ...patterns, toMark: marksBy(placed), isAt })
}

interface Known {
  readonly any: RegExp
  readonly ours: RegExp
  /** The marks for the next marker within a node; a range has several. */
  readonly toMark: (marker: string, node: Node) => Node[]
  /** Whether the server has found one at this position; undefined if the position has no source. */
  readonly isAt: (marker: string, node: Node, at: number) => boolean | undefined
}

/** Escapes make the text shorter than its source, so a marker is found by its order within its node. */
function marksBy(placed: readonly Placed[]): Known["toMark"] {
  const places = Map.groupBy(placed, ({ marker }) => marker)
  const next = new Map<string, number>()
  return (marker, { position }) => {
    const own = places.get(marker) ?? []
    let at = next.get(marker) ?? 0
    while (at < own.length && own[at]!.at < (position?.start.offset ?? 0)) at++
    const here = own[at]
    const found = here && here.at < (position?.end.offset ?? Infinity) ? here : undefined
    if (!found) {
      next.set(marker, at)
      return [toMark(marker, undefined)]
    }
    let end = at + 1
    while (own[end]?.at === found.at) end++
    next.set(marker, end)
    return own.slice(at, end).map(({ index }) => toMark(marker, index))
  }
}

function patternOf(markers: readonly string[]): RegExp {
  if (markers.length === 0) return /(?!)/g
  // The longest first, because one may be the prefix of another.
  const longest = markers.toSorted((one, other) => other.length - one.length)
  const escaped = longest.map((marker) => marker.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  return new RegExp(`(?<![\\w:.-])(?:${escaped.join("|")})(?![\\w-]|[:.]\\w)`, "g")
}

function mark(node: Node, known: Known): void {
  if (!node.children || SKIPPED.has(node.type)) return
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return split(child, known)
    const named = REFERENCES.has(child.type) ? idsIn(child.label ?? "", known.any) : []
    if (named.length > 0) return inPlaceOf(child, named, known)
    if (child.type !== "linkReference") mark(child, known)
    return [child]
  })
}

/** With a definition (`[1]: https://…`, `[^1]: …`) the parser reads a marker as a link or a footnote. */
const REFERENCES = new Set(["linkReference", "footnoteReference", "footnoteDefinition"])

function inPlaceOf(node: Node, named: readonly string[], known: Known): Node[] {
  const toMarks = () => named.flatMap((marker) => known.toMark(marker, node))
  const marked = () => (mark(node, known), node.children ?? [])
  // A footnote without a reference would not be drawn.
  if (node.type === "footnoteDefinition") return [{ type: "paragraph", children: toMarks() }, ...marked()]
  return node.referenceType === "full" ? [...marked(), ...toMarks()] : toMarks()
}

const idsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([marker]) => marker)

/** Splits at markers in brackets, and at our ids anywhere. Other words are never markers. */
function split(node: Node, { any, ours, toMark, isAt }: Known): Node[] {
  const { value: text = "" } = node
  const nodes: Node[] = []
  const say = (value: string) => void (value !== "" && nodes.push({ type: "text", value }))
  let from = 0
  for (const bracket of text.matchAll(/\[\^?[^\][\n]+\]/g)) {
    // `a[1]` and `[0, 1]` look like markers; if positions are known, only the server's count.
    const found = [...bracket[0].matchAll(any)].filter(
      (each) => isAt(each[0], node, bracket.index + each.index) ?? true,
    )
    if (found.length === 0) continue
    spread(from, bracket.index, ours)
    // With other words, such as a page, the brackets stay.
    if (/[^\s[\]^,;]/.test(bracket[0].replaceAll(any, "")))
      spread(bracket.index, bracket.index + bracket[0].length, any)
    else nodes.push(...found.flatMap(([marker]) => toMark(marker, node)))
    from = bracket.index + bracket[0].length
  }
  spread(from, text.length, ours)
  return nodes

  function spread(start: number, end: number, markers: RegExp): void {
    const words = text.slice(start, end)
    let at = 0
    for (const { 0: marker, index } of words.matchAll(markers)) {
      if (isAt(marker, node, start + index) === false) continue
      say(words.slice(at, index))
      nodes.push(...toMark(marker, node))
      at = index + marker.length
    }
    say(words.slice(at))
  }
}

const toMark = (marker: string, index: number | undefined): Node => ({
  type: "citation",
  data: { hName: "cite", hProperties: { "data-marker": marker, "data-index": index } },
  children: [{ type: "text", value: marker }],
})
