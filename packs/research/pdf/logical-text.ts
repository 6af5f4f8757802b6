import { own } from "../../../core/pack.ts"
import { toPlainLetters } from "../passages/plain-letters.ts"
import type { TextItem } from "./page-runs.ts"

/** Right-to-left letters: Hebrew, Arabic, Syriac and others, and the presentation forms of Hebrew and Arabic. */
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
const PRESENTATION = /[\ufb1d-\ufdff\ufe70-\ufefc]/
const LTR = /[\p{L}\p{N}]/u
const NOT_RTL = /[^\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+/g
const MIRRORED: Readonly<Record<string, string>> = {
  ...{ "(": ")", ")": "(", "[": "]", "]": "[", "{": "}", "}": "{", "<": ">", ">": "<", "«": "»", "»": "«" },
}

/** In units of the letter size: a smaller gap is no space, a larger one is another column. */
const SPACE = 0.15
const GAP = 1.6
const SAME_LINE = 0.2

/**
 * Combines each right-to-left line of a page into one item in reading order. Many files store such lines in visual
 * order, from the left, with presentation forms of the letters.
 */
export function inLogicalOrder(items: Iterable<TextItem>): TextItem[] {
  const ordered: TextItem[] = []
  let line: TextItem[] = []
  const close = () => {
    ordered.push(...(line.some(({ str }) => RTL.test(str)) ? columnsOf(line).flatMap(toLogicalLine) : line))
    line = []
  }
  for (const item of items) {
    const last = line.at(-1)
    if (last && !isOnLineOf(last, item)) close()
    line.push(item)
  }
  close()
  return ordered
}

function isOnLineOf(last: TextItem, item: TextItem): boolean {
  if (last.hasEOL || !isUpright(last) || !isUpright(item)) return false
  return Math.abs(baseOf(item) - baseOf(last)) <= SAME_LINE * sizeOf(last)
}

/** Splits a line at gaps that are wider than a space between words. */
function columnsOf(line: readonly TextItem[]): TextItem[][] {
  const columns: TextItem[][] = []
  let right = Number.NEGATIVE_INFINITY
  for (const item of line.toSorted((a, b) => leftOf(a) - leftOf(b))) {
    if (item.str.trim() === "") continue
    if (leftOf(item) - right > GAP * sizeOf(item)) columns.push([])
    columns.at(-1)!.push(item)
    right = Math.max(right, leftOf(item) + item.width)
  }
  return columns.toReversed()
}

function toLogicalLine(column: readonly TextItem[]): TextItem[] {
  if (!column.some(({ str }) => RTL.test(str))) return [...column]
  const words: { readonly text: string; readonly isLtr: boolean }[] = []
  let right: number | undefined
  for (const item of column) {
    const text = toLogicalText(item)
    const isApart = right !== undefined && leftOf(item) - right > SPACE * sizeOf(item)
    if (isApart || /^\s/.test(item.str)) words.push({ text: " ", isLtr: false })
    words.push(...toWords(text.trim()))
    if (/\s$/.test(item.str)) words.push({ text: " ", isLtr: false })
    right = leftOf(item) + item.width
  }
  const [first] = column
  const width = right! - leftOf(first!)
  const str = fromRight(words).replaceAll(/\s+/g, " ").trim()
  return [{ ...first!, str, dir: "rtl", width, hasEOL: true }]
}

/**
 * Splits text into words. In `.2020`, the visual order of the end of a right-to-left sentence, the point follows the
 * number.
 */
function toWords(text: string): { readonly text: string; readonly isLtr: boolean }[] {
  const isLtr = !RTL.test(text) && LTR.test(text)
  const [, point, rest] = (isLtr && /^([.,:;!?…]+)([^\s.,:;!?…].*)$/s.exec(text)) || []
  if (point === undefined || rest === undefined) return [{ text, isLtr }]
  return [
    { text: point, isLtr: false },
    { text: rest, isLtr },
  ]
}

/** Reverses the order of words, except within left-to-right text. */
function fromRight(words: readonly { readonly text: string; readonly isLtr: boolean }[]): string {
  const read: string[] = []
  for (let at = words.length - 1; at >= 0; at--) {
    let start = at
    if (words[at]!.isLtr)
      for (let before = at; before >= 0 && (words[before]!.isLtr || words[before]!.text === " "); before--)
        if (words[before]!.isLtr) start = before
    for (let each = start; each <= at; each++) read.push(words[each]!.text)
    at = start
  }
  return read.join("")
}

/** The letters of an item in reading order. Only presentation forms may be in visual order. */
function toLogicalText({ str, dir }: TextItem): string {
  if (!PRESENTATION.test(str)) return str
  return toPlainLetters(isInLogicalOrder(str, dir) ? str : reversed(str))
}

function reversed(str: string): string {
  return mirrored(str).replaceAll(NOT_RTL, (run) => {
    // Left-to-right words and numbers stay in their order, with everything between two of them.
    const letters = [...run]
    const first = letters.findIndex((letter) => LTR.test(letter))
    if (first === -1) return run
    const end = letters.findLastIndex((letter) => LTR.test(letter)) + 1
    return [...letters.slice(0, first), mirrored(letters.slice(first, end).join("")), ...letters.slice(end)].join("")
  })
}

const mirrored = (text: string): string =>
  [...text]
    .reverse()
    .map((letter) => own(MIRRORED, letter) ?? letter)
    .join("")

/**
 * The form of a letter shows whether it is joined to the previous or the next one, which reveals the order of two
 * letters. If no letters are joined, items marked as `rtl` are in reading order, because the PDF library sorts them.
 */
function isInLogicalOrder(str: string, dir: string): boolean {
  const forms = [...str].map(formOf)
  let votes = 0
  for (let at = 1; at < forms.length; at++) {
    const [before, after] = [forms[at - 1], forms[at]]
    if (!before || !after) continue
    if (before.joinsNext && after.joinsPrevious) votes++
    if (before.joinsPrevious && after.joinsNext) votes--
  }
  return votes === 0 ? dir === "rtl" : votes > 0
}

/** The first code points of letters with four forms: isolated, final, initial, medial. Others have two. */
const FOUR_FORMS = [
  ...[0xfe89, 0xfe8f, 0xfe95, 0xfe99, 0xfe9d, 0xfea1, 0xfea5, 0xfeb1, 0xfeb5, 0xfeb9, 0xfebd, 0xfec1, 0xfec5],
  ...[0xfec9, 0xfecd, 0xfed1, 0xfed5, 0xfed9, 0xfedd, 0xfee1, 0xfee5, 0xfee9, 0xfef1],
]

function formOf(letter: string): { readonly joinsNext: boolean; readonly joinsPrevious: boolean } | undefined {
  const code = letter.codePointAt(0) ?? 0
  if (code < 0xfe81 || code > 0xfefc) return undefined
  const start = FOUR_FORMS.find((first) => code >= first && code < first + 4)
  // Letters with two forms never join the next one. Their second form, with an even code, joins the previous one.
  if (start === undefined) return { joinsNext: false, joinsPrevious: code % 2 === 0 }
  const form = code - start
  return { joinsNext: form >= 2, joinsPrevious: form === 1 || form === 3 }
}

const leftOf = ({ transform }: TextItem) => transform[4] ?? 0
const baseOf = ({ transform }: TextItem) => transform[5] ?? 0
const sizeOf = ({ transform, height }: TextItem) => Math.hypot(transform[2] ?? 0, transform[3] ?? 0) || height || 1
const isUpright = ({ transform }: TextItem) =>
  Math.abs(transform[1] ?? 0) < 0.01 * Math.abs(transform[0] ?? 1) && (transform[0] ?? 0) > 0
