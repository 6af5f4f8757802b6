import { bracketed } from "./raised-text.ts"

interface Part {
  readonly name: string
  readonly children: string[]
  /** It is TeX, which takes precedence over other forms. */
  readonly isTex: boolean
  readonly attributes: Readonly<Record<string, string>>
}

/** Elements with text of a formula, in contrast to decoration. */
const WORDS = new Set(["mi", "mn", "mo", "mtext", "ms", "annotation"])
const PASSED_OVER = new Set(["annotation-xml", "script", "style", "mphantom", "maction"])
/** A longer alternative text of a formula is ignored. */
const MAX_NAMED = 10_000

/** Converts a formula to one line of text: its TeX source, otherwise its alternative text, otherwise its symbols. */
export class FormulaReader {
  readonly #open: Part[] = []
  #tex = ""
  #passedOver = 0

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (PASSED_OVER.has(name) || this.#passedOver > 0) this.#passedOver++
    const isTex = name === "annotation" && /\btex\b/i.test(attributes.encoding ?? "")
    this.#open.push({ name, attributes, isTex, children: [] })
  }

  say(text: string): void {
    const part = this.#open.at(-1)
    if (!part || this.#passedOver > 0 || !WORDS.has(part.name)) return
    part.children.push(text.replaceAll(/\s+/g, " "))
  }

  /** Closes an element. Returns the text of the formula if this was its outermost element. */
  close(): string | undefined {
    const part = this.#open.pop()
    if (!part) return ""
    if (this.#passedOver > 0) this.#passedOver--
    else if (part.isTex) this.#tex ||= part.children.join("").trim()
    else if (part.name !== "annotation") this.#open.at(-1)?.children.push(written(part))
    return this.#open.length > 0 ? undefined : this.#whole(part)
  }

  #whole(math: Part): string {
    const { alttext = "" } = math.attributes
    return withoutStyle(this.#tex || alttext.trim().slice(0, MAX_NAMED).toWellFormed()) || written(math).trim()
  }
}

/** Removes `\displaystyle`, which some pages add to each formula. */
function withoutStyle(tex: string): string {
  const styled = "{\\displaystyle "
  return tex.startsWith(styled) && tex.endsWith("}") ? tex.slice(styled.length, -1).trim() : tex
}

function written({ name, children }: Part): string {
  const [a = "", b = "", c = ""] = children
  switch (name) {
    case "mtext":
    case "annotation":
      return children.join("")
    case "msup":
    case "mover":
      return `${a}^${grouped(b)}`
    case "msub":
    case "munder":
      return `${a}_${grouped(b)}`
    case "msubsup":
    case "munderover":
      return `${a}_${grouped(b)}^${grouped(c)}`
    case "mfrac":
      return `${grouped(a)}/${grouped(b)}`
    case "msqrt":
      return `√(${children.join("")})`
    case "mroot":
      return `root(${a}, ${b})`
    case "mtr":
      return children.join(", ")
    case "mtable":
      return children.join("; ")
    case "mspace":
      return " "
    default:
      return WORDS.has(name) ? children.join("").trim() : children.join("")
  }
}

/** A longer text always has several terms, so it is not searched again at each level. */
const grouped = (text: string) => (text.length > 20 ? `(${text})` : bracketed(text))
