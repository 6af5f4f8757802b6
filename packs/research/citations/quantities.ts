import { numberWord } from "./figures.ts"
import { factorsOf, isStopWord, stem, unitOf } from "./vocabulary.ts"

const TOKEN = /[$€£%‰]|°[CF]?|\d+(?:[.,]\d+)*|\p{L}+(?:['’]\p{L}+)?/gu

export interface Token {
  readonly text: string
  readonly at: number
}

export interface Quantity {
  readonly value: number
  /** `mg`, `%`, `million $`; empty for a count. */
  readonly unit: string
  /** The value in the base unit of its dimension. */
  readonly base: number
  readonly dimension: string
  /** The counted thing. */
  readonly noun: string
  readonly isWord: boolean
}

export const readTokens = (text: string): Token[] =>
  Array.from(text.matchAll(TOKEN), ({ 0: token, index }) => ({ text: token.replaceAll("’", "'"), at: index }))

/** Replaces units and comparisons of several words with one word. The length of the text may change. */
export const toPlainUnits = (text: string): string =>
  text
    .replaceAll(/m³|\bm3\b|\bcubic met(?:er|re)s?\b/gi, " cubicmetres")
    .replaceAll(/m²|\bm2\b|\bsquare met(?:er|re)s?\b/gi, " squaremetres")
    .replaceAll(/\btwice\b/gi, "two times")
    .replaceAll(/\bthrice\b/gi, "three times")
    .replaceAll(/\bkm\/h\b|\bkph\b|\bkilomet(?:er|re)s (?:per|an) hour\b/gi, " kmh")
    .replaceAll(/(?:\bnot|n['’]t)((?: \p{L}{1,20}){0,2}) (?:as|so) (\p{L}{1,20}) as\b/giu, "$1 less $2 than")

export const isYear = (token: string) => /^(?:1[5-9]|20)\d\d$/.test(token)

/** The unit of a share: "two thirds of" is 66.7 of it. */
export const SHARE_OF = "%"
const PARTS: ReadonlyMap<string, number> = new Map([
  ...([
    ["half", 2],
    ["third", 3],
    ["thirds", 3],
    ["quarter", 4],
    ["quarters", 4],
  ] as const),
  ...([
    ["fifth", 5],
    ["fifths", 5],
    ["tenth", 10],
    ["tenths", 10],
  ] as const),
])
const MULTIPLES: ReadonlyMap<string, number> = new Map([
  ...(["double", "doubled", "doubles", "doubling", "twofold"] as const).map((word) => [word, 2] as const),
  ...(["triple", "tripled", "triples", "tripling", "threefold"] as const).map((word) => [word, 3] as const),
  ...(["quadrupled", "fourfold"] as const).map((word) => [word, 4] as const),
  ...(["halved", "halves", "halving"] as const).map((word) => [word, 0.5] as const),
])

/** "two thirds of", "half the", "doubled": a share or a multiple in words. */
function inWords(tokens: readonly Token[], index: number): Quantity | undefined {
  const wordAt = (at: number) => tokens[at]?.text.toLowerCase() ?? ""
  const make = (value: number, dimension: string, unit: string): Quantity => ({
    ...{ value, base: value, dimension, unit, noun: "", isWord: true },
  })
  const multiple = MULTIPLES.get(wordAt(index))
  if (multiple !== undefined) return make(multiple, "times", "times")
  const part = PARTS.get(wordAt(index))
  if (part === undefined || !/^(?:of|the|as|all)$/.test(wordAt(index + 1))) return undefined
  const before = wordAt(index - 1)
  // "The third of the trials" is not a share.
  if (before === "the" && part !== 2) return undefined
  return make((100 * (numberWord(before) ?? 1)) / part, "share", SHARE_OF)
}

/** "nine in ten", "4 out of 5": a share, with its number of tokens. */
function outOf(tokens: readonly Token[], index: number): Quantity | undefined {
  const words = tokens.slice(index + 1, index + 4).map(({ text }) => text.toLowerCase())
  const after = words[0] === "in" ? 1 : words[0] === "out" && words[1] === "of" ? 2 : 0
  if (after === 0) return undefined
  const numberIn = (text: string) => (/^\d{1,3}$/.test(text) ? Number(text) : numberWord(text.toLowerCase()))
  const first = tokens[index]?.text ?? ""
  const [some, all] = [/^one$/i.test(first) ? 1 : numberIn(first), numberIn(words[after] ?? "")]
  if (some === undefined || all === undefined || some >= all || !/^(?:3|4|5|10|20|100)$/.test(String(all)))
    return undefined
  const value = (100 * some) / all
  return { value, base: value, dimension: "share", unit: SHARE_OF, noun: "", isWord: true }
}

/** The quantities of a text in other units of their dimension: 500 mg is 0.5 g. Shares in words are percentages. */
export function convertedValues(text: string): number[] {
  return quantitiesIn(readTokens(toPlainUnits(text))).flatMap(({ base, dimension }) =>
    dimension === "times" && base < 1
      ? [100 * base]
      : factorsOf(dimension).flatMap((factor) => (dimension === "share" ? [base, base / 100] : [base / factor])),
  )
}

export function quantitiesIn(tokens: readonly Token[]): Quantity[] {
  return tokens.flatMap(({ text }, index): Quantity[] => {
    const special = inWords(tokens, index) ?? outOf(tokens, index)
    if (special) return [special]
    // The first word of "two thirds of" and the last of "nine in ten" belong to shares.
    if (inWords(tokens, index + 1)?.dimension === "share" || outOf(tokens, index - 2) || outOf(tokens, index - 3))
      return []
    const isWord = !/^\d/.test(text)
    const value = isWord ? numberWord(text.toLowerCase()) : toNumber(text)
    if (value === undefined) return []
    const before = tokens[index - 1]?.text ?? ""
    const { unit, dimension, factor } = unitOf(
      [tokens[index + 1], tokens[index + 2]].map((token) => token?.text ?? ""),
      before,
    )
    if (!isWord && isYear(text) && unit === "") return []
    const noun = unit === "" ? nounAfter(tokens, index + 1) : ""
    return [{ value, unit, dimension, base: value * factor, noun, isWord }]
  })
}

/** `three groups`: group; `four of six studies`: of six study; `two of them died`: of them die. */
function nounAfter(tokens: readonly Token[], from: number): string {
  const isPart = tokens[from]?.text === "of"
  const words = tokens.slice(from, from + (isPart ? 5 : 3)).map(({ text }) => text.toLowerCase())
  if (isPart) {
    const [, ...others] = words.filter((word) => word !== "the")
    if (/^(?:them|these|those)$/.test(others[0] ?? "")) return `of them ${stem(others[1] ?? "")}`
    const whole = others[0] === undefined ? undefined : (numberWord(others[0]) ?? toNumber(others[0]))
    return whole === undefined ? "" : `of ${whole} ${others[1] ? stem(others[1]) : ""}`
  }
  const noun = words.find((word) => /^\p{L}/u.test(word))
  return noun === undefined || isStopWord(noun) ? "" : stem(noun)
}

function toNumber(digits: string): number | undefined {
  if (!/^\d/.test(digits) || digits.length > 20) return undefined
  const value = Number(
    /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(digits) ? digits.replaceAll(",", "") : digits.replace(",", "."),
  )
  return Number.isFinite(value) ? value : undefined
}
