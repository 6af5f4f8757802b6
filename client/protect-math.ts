import { own } from "../core/shared/text/json.ts"

/** A formula in a text. */
export interface Formula {
  /** The formula with its delimiters. It is shown if the formula is not rendered. */
  readonly source: string
  /** Undefined if the formula is not rendered: it is incomplete, too long, or there are too many. */
  readonly tex: string | undefined
  readonly isBlock: boolean
}

interface Protected {
  /** The text with placeholders for formulas. Its length and all positions are unchanged. */
  readonly text: string
  /** Undefined if the text has no formulas to restore. */
  readonly formulas: readonly Formula[] | undefined
}

/**
 * Matches the placeholder of one formula, made of private-use characters that Markdown treats as letters. The two
 * groups encode the formula's index; decode them with `formulaIndex`.
 */
export const FORMULA_SIGN = /\uE0F0([\uE100-\uE13F])([\uE100-\uE13F])\uE0F1*/g
/**
 * The placeholder for a backslash that Markdown would remove: one private-use character. `withFormulas` replaces it
 * with the backslash.
 */
export const BACKSLASH_SIGN = "\uE0F2"
const SIGNS = /[\uE0F0-\uE0F2\uE100-\uE13F]/
const BASE = 64
const MAX_FORMULAS = BASE * BASE

const signOf = (index: number): string =>
  String.fromCharCode(0xe0f0, 0xe100 + Math.floor(index / BASE), 0xe100 + (index % BASE))

/** Decodes the index of a formula in the list of `protectMath`, from the two groups that `FORMULA_SIGN` matched. */
export const formulaIndex = (high = "", low = ""): number =>
  (high.charCodeAt(0) - 0xe100) * BASE + low.charCodeAt(0) - 0xe100

/** Limits, because rendering long or many formulas is slow. */
const MAX_TEX = 4000
const MAX_DRAWN = 500
const MAX_INLINE = 500

const CLOSED_BY: Readonly<Record<string, string>> = { "\\(": "\\)", "\\[": "\\]", $$: "$$" }
/** Markdown removes a backslash before these characters, so `\,` and `\%` must be protected. */
const PLAIN = new Set(",;:%&{}'\"/=?@^")

/**
 * Puts formulas back in place of the placeholders that protected them during parsing. `source` returns the text of the
 * formula with this index.
 */
export const withFormulas = (text: string, source: (index: number) => string | undefined): string =>
  text
    .replaceAll(FORMULA_SIGN, (sign, high: string, low: string) => source(formulaIndex(high, low)) ?? sign)
    .replaceAll(BACKSLASH_SIGN, "\\")

/**
 * Replaces formulas in a text before it is parsed as Markdown, which would remove their backslashes and treat
 * underscores as emphasis: `\(…\)`, `\[…\]`, `$$…$$` and, if it cannot be money, `$…$`. Code is not changed. Runs in
 * linear time for any text.
 */
export function protectMath(text: string, isOpen: boolean): Protected {
  if (SIGNS.test(text) || !/[\\$]/.test(text)) return { text, formulas: undefined }
  const formulas: Formula[] = []
  const places = new Places(text)
  const next = /[\\$`]/g
  let made = ""
  let done = 0
  const replace = (start: number, end: number, sign: string): number => {
    made += text.slice(done, start) + sign.padEnd(end - start, "\uE0F1")
    return (done = end)
  }
  const read = (at: number): number => {
    const [one, two] = [text[at], text.slice(at, at + 2)]
    if (one === "`") return places.endOfCode(at)
    const closing = own(CLOSED_BY, two)
    const end = closing ? places.endOf(closing, at + 2, isOpen) : one === "$" ? endOfInline(text, at) : undefined
    if (end && formulas.length < MAX_FORMULAS && (end.isOpen || isFormula(text, at, end.at))) {
      const [source, edge] = [text.slice(at, end.at), closing ? 2 : 1]
      const isDrawn = !end.isOpen && source.length <= MAX_TEX && formulas.length < MAX_DRAWN
      const tex = isDrawn ? unquoted(text, at, source.slice(edge, -edge)) : undefined
      formulas.push({ source, tex, isBlock: closing !== undefined && two !== "\\(" })
      return replace(at, end.at, signOf(formulas.length - 1))
    }
    const isCut = isOpen && at + 2 >= text.length
    if (one === "\\" && (isCut || PLAIN.has(two[1] ?? ""))) return replace(at, at + 1, BACKSLASH_SIGN)
    return at + (one === "$" && !closing ? 1 : 2)
  }
  for (let found = next.exec(text); found; found = next.exec(text)) next.lastIndex = read(found.index)
  return { text: made + text.slice(done), formulas }
}

interface End {
  readonly at: number
  readonly isOpen?: boolean
}

/** Finds where delimiters end. Results are cached, so that a text with many opening delimiters is searched once. */
class Places {
  readonly #text: string
  readonly #next = new Map<string, number>()
  #ticks: ReadonlyMap<number, readonly number[]> | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the end of a formula in the same paragraph; while a reply is streamed, the end of the text so far. */
  endOf(closing: string, from: number, isOpen: boolean): End | undefined {
    const end = this.#find(closing, from)
    const paragraph = this.#find("\n\n", from)
    if (end < paragraph) return { at: end + closing.length }
    return isOpen && paragraph === Infinity && from < this.#text.length ? { at: this.#text.length, isOpen } : undefined
  }

  /** Returns the end of a code span or block, or of backticks that start none. */
  endOfCode(at: number): number {
    const ticks = /`+/y
    ticks.lastIndex = at
    const { length } = ticks.exec(this.#text)?.[0] ?? "`"
    const isBlock = length >= 3 && /(?:^|\n)[\s>*+-]*$/.test(this.#text.slice(Math.max(0, at - 20), at))
    const end = this.#ticksAfter(length, at)
    if (end < (isBlock ? Infinity : this.#find("\n\n", at))) return end + length
    return isBlock ? this.#text.length : at + length
  }

  #find(needle: string, from: number): number {
    const known = this.#next.get(needle) ?? -1
    if (known >= from) return known
    const found = this.#text.indexOf(needle, from)
    const next = found === -1 ? Infinity : found
    this.#next.set(needle, next)
    return next
  }

  #ticksAfter(length: number, at: number): number {
    this.#ticks ??= ticksOf(this.#text)
    const all = this.#ticks.get(length) ?? []
    let [low, high] = [0, all.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (all[middle]! > at) high = middle
      else low = middle + 1
    }
    return all[low] ?? Infinity
  }
}

/** Finds all runs of backticks by their length in one pass, because a text can have runs of a thousand lengths. */
function ticksOf(text: string): Map<number, number[]> {
  const places = new Map<number, number[]>()
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = places.get(run.length)
    if (known) known.push(index)
    else places.set(run.length, [index])
  }
  return places
}

/**
 * Returns the end of a `$…$` formula. To exclude money and names, the first dollar must not follow a letter or digit or
 * precede a space, the last one the other way round, and both must be on one line.
 */
function endOfInline(text: string, at: number): End | undefined {
  if (/[\w$]/.test(text[at - 1] ?? "") || /[\s$]/.test(text[at + 1] ?? " ")) return undefined
  const [, tex, after = ""] = /^((?:[^\\$`\n]|\\[^\n])+)\$(.?)/.exec(text.slice(at + 1, at + MAX_INLINE)) ?? []
  return tex === undefined || /\s$/.test(tex) || /[\w$]/.test(after) ? undefined : { at: at + tex.length + 2 }
}

/** Removes the `>` signs of a block quote around the formula. */
const unquoted = (text: string, at: number, tex: string): string =>
  tex.includes("\n") && /(?:^|\n)[ \t]*>[^\n]*$/.test(text.slice(Math.max(0, at - 100), at))
    ? tex.replaceAll(/\n(?:[ \t]*>)+/g, "\n")
    : tex

/**
 * Returns false for text that only looks like a formula: `\[1\]` is a number in brackets, `\[a\](b)` no link, `$5 or
 * 10$` a price, `$$ and $$` shell syntax.
 */
function isFormula(text: string, start: number, end: number): boolean {
  const isBracket = text[start + 1] === "["
  const tex = text
    .slice(start, end)
    .replace(/^(?:\\.|\$\$?)/, "")
    .replace(/(?:\\.|\$\$?)$/, "")
    .trim()
  if (tex === "" || (isBracket && text[end] === "(")) return false
  if (/[\\^_={}<>+*|]/.test(tex)) return true
  return !(isBracket && tex.length < 3) && !/\p{Ll}{3}|^\d[\d.,]*\s+\p{L}{2}/u.test(tex)
}
