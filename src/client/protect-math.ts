import { own } from "../protocol/own.ts"

/** A formula as it stands in a text. */
export interface Formula {
  /** With what it is fenced in by: what is shown where it is not drawn. */
  readonly source: string
  /** Undefined where it is not drawn: its end is not written yet, it is very long, or one of very many. */
  readonly tex: string | undefined
  readonly isBlock: boolean
}

export interface Protected {
  /** As long as what was given, with signs in the place of formulas: what stands where is not changed by it. */
  readonly text: string
  /** Undefined where nothing was taken out, and so nothing has to be put back. */
  readonly formulas: readonly Formula[] | undefined
}

/** Signs for a formula, with its number, and for a backslash, from the private use area: markdown takes them for letters. */
export const FORMULA_SIGN = /\uE0F0([\uE100-\uE13F])([\uE100-\uE13F])\uE0F1*/g
export const BACKSLASH_SIGN = "\uE0F2"
const SIGNS = /[\uE0F0-\uE0F2\uE100-\uE13F]/
const BASE = 64
const MAX_FORMULAS = BASE * BASE

const signOf = (index: number): string =>
  String.fromCharCode(0xe0f0, 0xe100 + Math.floor(index / BASE), 0xe100 + (index % BASE))

/** Which formula a sign stands for, by what `FORMULA_SIGN` has found. */
export const formulaIndex = (high = "", low = ""): number =>
  (high.charCodeAt(0) - 0xe100) * BASE + low.charCodeAt(0) - 0xe100

/** Nobody reads longer ones, and to draw them takes time. */
const MAX_TEX = 4000
const MAX_DRAWN = 500
const MAX_INLINE = 500

const CLOSED_BY: Readonly<Record<string, string>> = { "\\(": "\\)", "\\[": "\\]", $$: "$$" }
/** Before these a backslash means nothing in markdown but to go away: `\,` and `\%` are kept as they were written. */
const PLAIN = new Set(",;:%&{}'\"/=?@^")

/** What was written, letter by letter. */
export const withFormulas = (text: string, source: (index: number) => string | undefined): string =>
  text
    .replaceAll(FORMULA_SIGN, (sign, high: string, low: string) => source(formulaIndex(high, low)) ?? sign)
    .replaceAll(BACKSLASH_SIGN, "\\")

/**
 * Takes formulas out of a text before it is read as markdown, which would eat their backslashes and take their underscores
 * for emphasis: `\(…\)`, `\[…\]`, `$$…$$` and, where it cannot be money, `$…$`. Code is left alone. The time it takes grows
 * with the text and no faster, whatever stands in it.
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

/** Where things end. What was looked for once is remembered: a text of nothing but beginnings is gone through once. */
class Places {
  readonly #text: string
  readonly #next = new Map<string, number>()
  #ticks: ReadonlyMap<number, readonly number[]> | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Behind what closes a formula, in the same paragraph; while a reply is written, the end of all that there is. */
  endOf(closing: string, from: number, isOpen: boolean): End | undefined {
    const end = this.#find(closing, from)
    const paragraph = this.#find("\n\n", from)
    if (end < paragraph) return { at: end + closing.length }
    return isOpen && paragraph === Infinity && from < this.#text.length ? { at: this.#text.length, isOpen } : undefined
  }

  /** Behind a stretch or a block of code, or behind ticks that begin none. */
  endOfCode(at: number): number {
    const ticks = /`+/y
    ticks.lastIndex = at
    const { length } = ticks.exec(this.#text)?.[0] ?? "`"
    const isBlock = length >= 3 && /(?:^|\n)[\s>*+-]*$/.test(this.#text.slice(Math.max(0, at - 20), at))
    const end = this.#ticksAfter(length, at)
    if (end < (isBlock ? Infinity : this.#find("\n\n", at))) return end + length
    return isBlock ? this.#text.length : at + length
  }

  #find(words: string, from: number): number {
    const known = this.#next.get(words) ?? -1
    if (known >= from) return known
    const found = this.#text.indexOf(words, from)
    const next = found === -1 ? Infinity : found
    this.#next.set(words, next)
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

/** Where ticks stand, by how many there are: all in one go, because a text may have runs of a thousand lengths. */
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
 * Where `$…$` ends that begins here. Dollars are money and names first: before the first one stands no letter or digit, and
 * no space behind it; the last one the other way round; both on one line.
 */
function endOfInline(text: string, at: number): End | undefined {
  if (/[\w$]/.test(text[at - 1] ?? "") || /[\s$]/.test(text[at + 1] ?? " ")) return undefined
  const [, tex, after = ""] = /^((?:[^\\$`\n]|\\[^\n])+)\$(.?)/.exec(text.slice(at + 1, at + MAX_INLINE)) ?? []
  return tex === undefined || /\s$/.test(tex) || /[\w$]/.test(after) ? undefined : { at: at + tex.length + 2 }
}

/** Without the signs of a block quote that it stands in. */
const unquoted = (text: string, at: number, tex: string): string =>
  tex.includes("\n") && /(?:^|\n)[ \t]*>[^\n]*$/.test(text.slice(Math.max(0, at - 100), at))
    ? tex.replaceAll(/\n(?:[ \t]*>)+/g, "\n")
    : tex

/** Whether it can be one. `\[1\]` is a number in brackets, `\[a\](b)` no link, `$5 or 10$` a price, `$$ and $$` a shell's. */
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
