import katex from "katex"
import { type ReactNode, createElement } from "react"
import { escapeHidden } from "../../../client/index.ts"

/** The elements of KaTeX's MathML. All others are removed: links, images, styles, scripts, HTML. */
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

/** For a formula that scrolls back into view. */
const drawn = new Map<string, ReactNode>()
const MAX_CACHED = 500

/**
 * A formula as MathML, which browsers draw without fonts and style attributes, so the page's policy need not allow any.
 * Undefined if KaTeX refuses it; endless macros are stopped early.
 */
export function drawFormula(tex: string, isBlock: boolean): ReactNode {
  const key = `${isBlock}${tex}`
  if (drawn.has(key)) return drawn.get(key)
  const made = make(tex, isBlock)
  if (drawn.size >= MAX_CACHED) drawn.clear()
  drawn.set(key, made)
  return made
}

function make(tex: string, isBlock: boolean): ReactNode {
  try {
    const markup = katex.renderToString(tex, { ...OPTIONS, displayMode: isBlock })
    // KaTeX writes a forbidden command in red; the source is better than half a formula.
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

/** Without the invisible operators "applied to" and "times" that KaTeX adds. */
const toWords = (words: string, variant: string | null) =>
  escapeHidden(toVariant(words.replaceAll(/[\u2061-\u2064]/g, ""), variant))

const childrenOf = (element: Element): ReactNode[] => Array.from(element.children, toNode)

/** Browsers ignore `columnalign`, so each cell gets its alignment. */
function alignOf(cell: Element): string | undefined {
  const columns = cell.parentElement?.parentElement?.getAttribute("columnalign")?.split(" ") ?? []
  const at = Array.from(cell.parentElement?.children ?? []).indexOf(cell)
  const side = columns[at] ?? columns.at(-1)
  return side === "left" || side === "right" ? `cell-${side}` : undefined
}

/** The first code points of a Unicode alphabet: capitals, small letters, digits. */
const ALPHABETS = new Map<string, readonly [number, number, number?]>(
  Object.entries({
    bold: [0x1d400, 0x1d41a, 0x1d7ce],
    italic: [0x1d434, 0x1d44e],
    "bold-italic": [0x1d468, 0x1d482],
    script: [0x1d49c, 0x1d4b6],
    fraktur: [0x1d504, 0x1d51e],
    "double-struck": [0x1d538, 0x1d552, 0x1d7d8],
    "bold-fraktur": [0x1d56c, 0x1d586],
    "sans-serif": [0x1d5a0, 0x1d5ba, 0x1d7e2],
    "bold-sans-serif": [0x1d5d4, 0x1d5ee, 0x1d7ec],
    "sans-serif-italic": [0x1d608, 0x1d622],
    monospace: [0x1d670, 0x1d68a, 0x1d7f6],
  }),
)

/** The first code points of small and capital Greek. */
const GREEK = new Map<string, readonly [number, number]>(
  Object.entries({
    bold: [0x1d6a8, 0x1d6c2],
    "bold-italic": [0x1d71c, 0x1d736],
  }),
)

/** Letters whose code point is outside of their alphabet's block. */
const ELSEWHERE = new Map<string, string>(
  Object.entries({
    ...{ "italic h": "ℎ", "script B": "ℬ", "script E": "ℰ", "script F": "ℱ", "script H": "ℋ", "script I": "ℐ" },
    ...{ "script L": "ℒ", "script M": "ℳ", "script R": "ℛ", "script e": "ℯ", "script g": "ℊ", "script o": "ℴ" },
    ...{ "fraktur C": "ℭ", "fraktur H": "ℌ", "fraktur I": "ℑ", "fraktur R": "ℜ", "fraktur Z": "ℨ" },
    ...{ "double-struck C": "ℂ", "double-struck H": "ℍ", "double-struck N": "ℕ", "double-struck P": "ℙ" },
    ...{ "double-struck Q": "ℚ", "double-struck R": "ℝ", "double-struck Z": "ℤ" },
  }),
)

/** Letters of another alphabet, such as ℝ: browsers draw the character, and ignore the attribute. */
function toVariant(text: string, variant: string | null): string {
  const latin = ALPHABETS.get(variant ?? "")
  if (!latin) return text
  const greek = GREEK.get(variant ?? "")
  return Array.from(text, (letter) => {
    const code = letter.codePointAt(0) as number
    const from = (first: number, start: number | undefined) =>
      start === undefined ? letter : String.fromCodePoint(start + code - first)
    const known = ELSEWHERE.get(`${variant} ${letter}`)
    if (known) return known
    if (/[A-Z]/.test(letter)) return from(0x41, latin[0])
    if (/[a-z]/.test(letter)) return from(0x61, latin[1])
    if (/[0-9]/.test(letter)) return from(0x30, latin[2])
    if (/[Α-Ω]/.test(letter)) return from(0x391, greek?.[0])
    return /[α-ω]/.test(letter) ? from(0x3b1, greek?.[1]) : letter
  }).join("")
}
