import katex from "katex"
import { createElement, type ReactNode } from "react"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { toVariant } from "./math-letters.ts"

/** What KaTeX's MathML is made of. Whatever else would be in it is left out: no link, image, style, script or text in HTML. */
const ELEMENTS = new Set([
  ...["math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "mpadded"],
  ...["mphantom", "menclose", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd"],
])
const ATTRIBUTES = new Set([
  ...["accent", "accentunder", "displaystyle", "scriptlevel", "fence", "separator", "stretchy", "largeop"],
  ...["movablelimits", "form", "lspace", "rspace", "minsize", "maxsize", "symmetric", "linethickness", "width"],
  ...["height", "depth", "voffset", "mathcolor", "mathbackground", "mathsize", "notation"],
])

const OPTIONS = {
  output: "mathml",
  throwOnError: true,
  strict: "ignore",
  trust: false,
  maxSize: 20, // em
  maxExpand: 200,
} as const

/** Drawn again when somebody scrolls back to it. */
const drawn = new Map<string, ReactNode>()
const MAX_KEPT = 500

/**
 * A formula as MathML, which browsers draw themselves: no fonts, no style attributes, nothing that the page's policy would
 * have to allow. Undefined where KaTeX does not take it; macros that grow without end it gives up soon.
 */
export function drawFormula(tex: string, isBlock: boolean): ReactNode {
  const key = `${isBlock}${tex}`
  if (drawn.has(key)) return drawn.get(key)
  const made = make(tex, isBlock)
  if (drawn.size >= MAX_KEPT) drawn.clear()
  drawn.set(key, made)
  return made
}

function make(tex: string, isBlock: boolean): ReactNode {
  try {
    const markup = katex.renderToString(tex, { ...OPTIONS, displayMode: isBlock })
    // What it may not do KaTeX writes as its name in red; half of a formula is worse than its source.
    if (markup.includes('mathcolor="#cc0000"')) return undefined
    const { body } = new DOMParser().parseFromString(markup, "text/html")
    const math = body.querySelector("math")
    if (!math || body.querySelectorAll("*").length > MAX_ELEMENTS) return undefined
    const { block, ...label } = { block: isBlock ? { display: "block" } : {}, "aria-label": escapeHidden(tex.trim()) }
    return createElement("math", { ...block, ...label }, ...childrenOf(math.querySelector("semantics") ?? math))
  } catch {
    return undefined // not TeX, too deep, or too much
  }
}

const MAX_ELEMENTS = 5000

function toNode(element: Element, key: number): ReactNode {
  const name = element.localName
  if (!ELEMENTS.has(name)) return null
  const given: Record<string, unknown> = { key }
  for (const { name: attribute, value } of element.attributes) if (ATTRIBUTES.has(attribute)) given[attribute] = value
  const variant = element.getAttribute("mathvariant")
  if (variant === "normal") given["mathvariant"] = variant
  if (name === "mtable" && /^0em/.test(element.getAttribute("columnspacing") ?? "")) given["className"] = "tight"
  if (name === "mtd") given["className"] = alignOf(element)
  if (name === "menclose") given["className"] = `enclosed-${element.getAttribute("notation") ?? ""}`
  const words = element.children.length === 0 ? element.textContent : undefined
  if (words !== undefined) return createElement(name, given, toWords(words, variant))
  return createElement(name, given, ...childrenOf(element))
}

/** Without the signs for "applied to" and "times", which KaTeX adds and nobody sees. */
const toWords = (words: string, variant: string | null) =>
  escapeHidden(toVariant(words.replaceAll(/[\u2061-\u2064]/g, ""), variant))

const childrenOf = (element: Element): ReactNode[] => Array.from(element.children, toNode)

/** Browsers know no `columnalign`: each cell is told where it stands. */
function alignOf(cell: Element): string | undefined {
  const columns = cell.parentElement?.parentElement?.getAttribute("columnalign")?.split(" ") ?? []
  const at = Array.from(cell.parentElement?.children ?? []).indexOf(cell)
  const side = columns[at] ?? columns.at(-1)
  return side === "left" || side === "right" ? `cell-${side}` : undefined
}
