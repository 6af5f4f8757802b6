import { type AnswerData, AnswerData as AnswerDataSchema } from "../../src/protocol/index.ts"

/** What a reply's markers are bound to, where the server has said so. */
export function citationsOf(data: unknown): AnswerData | undefined {
  const { kind } = (data ?? {}) as { kind?: unknown }
  if (kind !== "citations") return undefined
  return AnswerDataSchema.safeParse(data).data
}

interface Node {
  type: string
  value?: string
  children?: Node[]
  data?: unknown
  position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } }
  /** Of a reference: what its definition is called. */
  label?: string
  referenceType?: string
}

const SKIPPED = new Set(["link", "code", "inlineCode", "definition"])

/** Like the server: what begins as our ids do is a marker without brackets too. */
const OURS = /^(?:psg|web|arxiv|doc)_/

/** A marker that the server has found: which, where in the text that is drawn, and its place among all of the answer's. */
export interface Placed {
  readonly marker: string
  readonly at: number
  readonly index: number
}

/**
 * Turns the markers that the server has found in a reply into elements of their own, each bound to what the server says of
 * this very place. They are made here and nowhere else: nothing that a model writes can pass for one, and no definition of
 * its own can make something else of one.
 */
export function citationMarks(placed: readonly Placed[]) {
  const markers = [...new Set(placed.map(({ marker }) => marker))]
  const patterns = { any: patternOf(markers), ours: patternOf(markers.filter((id) => OURS.test(id))) }
  return () => (tree: Node) => mark(tree, { ...patterns, toMark: marksBy(placed) })
}

interface Known {
  readonly any: RegExp
  readonly ours: RegExp
  /** The mark for the next place of a marker within a node. */
  readonly toMark: (marker: string, node: Node) => Node
}

/** What is escaped makes a text shorter than its source, so a place is found by its order among those inside its node. */
function marksBy(placed: readonly Placed[]): Known["toMark"] {
  const places = Map.groupBy(placed, ({ marker }) => marker)
  const next = new Map<string, number>()
  return (marker, { position }) => {
    const own = places.get(marker) ?? []
    let at = next.get(marker) ?? 0
    while (at < own.length && own[at]!.at < (position?.start.offset ?? 0)) at++
    const here = own[at]
    const found = here && here.at < (position?.end.offset ?? Infinity) ? here : undefined
    next.set(marker, found ? at + 1 : at)
    return toMark(marker, found?.index)
  }
}

function patternOf(markers: readonly string[]): RegExp {
  if (markers.length === 0) return /(?!)/g
  // The longest first: one may begin like another.
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

/** With a definition (`[1]: https://…`, `[^1]: …`) a marker is a link or a footnote to the parser; to us it is a marker. */
const REFERENCES = new Set(["linkReference", "footnoteReference", "footnoteDefinition"])

function inPlaceOf(node: Node, named: readonly string[], known: Known): Node[] {
  const toMarks = () => named.map((marker) => known.toMark(marker, node))
  const marked = () => (mark(node, known), node.children ?? [])
  // A footnote that nothing refers to any more would not be drawn.
  if (node.type === "footnoteDefinition") return [{ type: "paragraph", children: toMarks() }, ...marked()]
  return node.referenceType === "full" ? [...marked(), ...toMarks()] : toMarks()
}

const idsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([marker]) => marker)

/** What stands in brackets, and our own ids anywhere: another word elsewhere in a sentence is a word. */
function split(node: Node, { any, ours, toMark }: Known): Node[] {
  const { value: text = "" } = node
  const nodes: Node[] = []
  const say = (value: string) => void (value !== "" && nodes.push({ type: "text", value }))
  let from = 0
  for (const bracket of text.matchAll(/\[\^?[^\][\n]+\]/g)) {
    const found = idsIn(bracket[0], any)
    if (found.length === 0) continue
    spread(text.slice(from, bracket.index), ours)
    // With other words among them, such as a page, the brackets stay.
    if (/[^\s[\]^,;]/.test(bracket[0].replaceAll(any, ""))) spread(bracket[0], any)
    else nodes.push(...found.map((marker) => toMark(marker, node)))
    from = bracket.index + bracket[0].length
  }
  spread(text.slice(from), ours)
  return nodes

  function spread(words: string, markers: RegExp): void {
    let at = 0
    for (const { 0: marker, index } of words.matchAll(markers)) {
      say(words.slice(at, index))
      nodes.push(toMark(marker, node))
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
