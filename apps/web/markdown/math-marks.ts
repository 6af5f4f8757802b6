import { gfmFromMarkdown } from "mdast-util-gfm"
import { gfm } from "micromark-extension-gfm"
import type { Options } from "react-markdown"
import { FORMULA_SIGN, type Formula, formulaIndex, withFormulas } from "../../../client/index.ts"
import { escapeAllBidi, escapeBidi } from "../../../core/protocol/index.ts"

interface Node {
  type: string
  value?: string
  children?: Node[]
  data?: unknown
}

/** By the numbers of their marks. */
type Formulas = ReadonlyMap<number, Formula>

const TEXTS = ["value", "lang", "meta", "url", "title", "alt", "label"] as const

/**
 * Restores what `protectMath` has replaced: in prose as an element that no text of a model can imitate, and in other
 * text, such as in code and addresses, as the source.
 */
export function mathMarks(formulas: Formulas) {
  const toSource = (text: string) => withFormulas(text, (index) => formulas.get(index)?.source)
  const restore = (node: Node): Node[] => {
    if (node.type === "text") return toNodes(node.value ?? "", formulas)
    if (node.children) node.children = node.children.flatMap(restore)
    const fields = node as unknown as Record<string, unknown>
    for (const name of TEXTS) if (typeof fields[name] === "string") fields[name] = toSource(fields[name])
    return [node]
  }
  return () => (tree: Node) => void restore(tree)
}

const written = (text: string) => withFormulas(text, () => undefined)

function toNodes(text: string, formulas: Formulas): Node[] {
  const nodes: Node[] = []
  let from = 0
  const say = (to: number) => void (to > from && nodes.push({ type: "text", value: written(text.slice(from, to)) }))
  for (const { 0: sign, 1: high, 2: low, index } of text.matchAll(FORMULA_SIGN)) {
    say(index)
    from = index + sign.length
    const formula = formulas.get(formulaIndex(high, low))
    if (formula) nodes.push(toNode(formula))
  }
  say(text.length)
  return nodes
}

const toNode = ({ source, tex, isBlock }: Formula): Node => ({
  type: "formula",
  data: { hName: "var", hProperties: { "data-tex": tex ?? "", "data-block": String(isBlock) } },
  children: [{ type: "text", value: source }],
})

type Pluggable = NonNullable<Options["remarkPlugins"]>[number]
/** The fields of a processor's data that `remark-parse` reads. */
interface Extensions {
  micromarkExtensions?: unknown[]
  fromMarkdownExtensions?: unknown[]
}
type Plugin = Extract<Pluggable, (...options: never[]) => unknown>

/**
 * Parses tables, task lists, strikethrough and footnotes, as `remark-gfm` does. That package also loads what writes
 * Markdown, 6 kB of the first load that the page never uses.
 */
export const gfmMarks: Plugin = function () {
  const data = this.data() as Extensions
  ;(data.micromarkExtensions ??= []).push(gfm())
  ;(data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown())
}

interface HtmlNode {
  type: string
  tagName?: string
  value?: string
  children?: HtmlNode[]
}

/**
 * Escapes characters that change the writing direction: in the tree and not in the source, because the positions of
 * citations refer to the source. Code needs no direction, so all of them are escaped there.
 */
export const turnedMarks = () => (tree: HtmlNode) => writeOut(tree, escapeBidi)

function writeOut(node: HtmlNode, write: (text: string) => string): void {
  if (node.type === "text") node.value = write(node.value ?? "")
  const isCode = node.tagName === "code" || node.tagName === "pre"
  for (const child of node.children ?? []) writeOut(child, isCode ? escapeAllBidi : write)
}
