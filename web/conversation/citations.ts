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
  /** Of a reference: what its definition is called. */
  label?: string
  referenceType?: string
}

const SKIPPED = new Set(["link", "code", "inlineCode", "definition"])

/** Like the server: what begins as our ids do is a marker without brackets too. */
const OURS = /^(?:psg|web|arxiv|doc)_/

/**
 * Turns the markers that the server has found in a reply into elements of their own. They are made here and nowhere else:
 * nothing that a model writes can pass for one, and no definition of its own can make something else of one.
 */
export function citationMarks(markers: ReadonlySet<string>) {
  const known: Known = { any: patternOf([...markers]), ours: patternOf([...markers].filter((id) => OURS.test(id))) }
  return () => (tree: Node) => mark(tree, known)
}

interface Known {
  readonly any: RegExp
  readonly ours: RegExp
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
    if (child.type === "text") return split(child.value ?? "", known)
    const named = REFERENCES.has(child.type) ? idsIn(child.label ?? "", known.any) : []
    if (child.type !== "linkReference" || named.length > 0) mark(child, known)
    return named.length === 0 ? [child] : inPlaceOf(child, named)
  })
}

/** With a definition (`[1]: https://…`, `[^1]: …`) a marker is a link or a footnote to the parser; to us it is a marker. */
const REFERENCES = new Set(["linkReference", "footnoteReference", "footnoteDefinition"])

function inPlaceOf({ type, referenceType, children = [] }: Node, named: readonly string[]): Node[] {
  const marks = named.map(toMark)
  // A footnote that nothing refers to any more would not be drawn.
  if (type === "footnoteDefinition") return [{ type: "paragraph", children: marks }, ...children]
  return referenceType === "full" ? [...children, ...marks] : marks
}

const idsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([marker]) => marker)

/** What stands in brackets, and our own ids anywhere: another word elsewhere in a sentence is a word. */
function split(text: string, { any, ours }: Known): Node[] {
  const nodes: Node[] = []
  const say = (value: string) => void (value !== "" && nodes.push({ type: "text", value }))
  let from = 0
  for (const bracket of text.matchAll(/\[\^?[^\][\n]+\]/g)) {
    const found = idsIn(bracket[0], any)
    if (found.length === 0) continue
    spread(text.slice(from, bracket.index), ours)
    // With other words among them, such as a page, the brackets stay.
    if (/[^\s[\]^,;]/.test(bracket[0].replaceAll(any, ""))) spread(bracket[0], any)
    else nodes.push(...found.map(toMark))
    from = bracket.index + bracket[0].length
  }
  spread(text.slice(from), ours)
  return nodes

  function spread(words: string, markers: RegExp): void {
    let at = 0
    for (const { 0: marker, index } of words.matchAll(markers)) {
      say(words.slice(at, index))
      nodes.push(toMark(marker))
      at = index + marker.length
    }
    say(words.slice(at))
  }
}

const toMark = (marker: string): Node => ({
  type: "citation",
  data: { hName: "cite", hProperties: { "data-marker": marker } },
  children: [{ type: "text", value: marker }],
})
