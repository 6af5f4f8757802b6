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
}

const SKIPPED = new Set(["link", "linkReference", "code", "inlineCode", "definition"])

/**
 * Turns the markers that the server has found in a reply into elements of their own. They are made here and nowhere else:
 * nothing that a model writes can pass for one.
 */
export function citationMarks(markers: ReadonlySet<string>) {
  const escaped = [...markers].map((marker) => marker.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  const pattern = new RegExp(`(?<![\\w:.-])(${escaped.join("|")})(?![\\w:.-])`, "g")
  return () => (tree: Node) => mark(tree, pattern)
}

function mark(node: Node, pattern: RegExp): void {
  if (!node.children || SKIPPED.has(node.type)) return
  node.children = node.children.flatMap((child) => {
    // A marker without a definition is a reference to the parser, and text to everybody else.
    if (child.type === "text") return split(child.value ?? "", pattern)
    mark(child, pattern)
    return [child]
  })
}

/** Only what stands in brackets: the same word elsewhere in a sentence is a word. */
function split(text: string, pattern: RegExp): Node[] {
  const nodes: Node[] = []
  let from = 0
  for (const bracket of text.matchAll(/\[\^?[^\][\n]+\]/g)) {
    const found = [...bracket[0].matchAll(pattern)].map(([, marker]) => marker as string)
    if (found.length === 0) continue
    if (bracket.index > from) nodes.push({ type: "text", value: text.slice(from, bracket.index) })
    for (const marker of found) nodes.push(toMark(marker))
    from = bracket.index + bracket[0].length
  }
  if (from === 0) return [{ type: "text", value: text }]
  if (from < text.length) nodes.push({ type: "text", value: text.slice(from) })
  return nodes
}

const toMark = (marker: string): Node => ({
  type: "citation",
  data: { hName: "cite", hProperties: { "data-marker": marker } },
  children: [{ type: "text", value: marker }],
})
