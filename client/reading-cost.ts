/** Characters that create Markdown elements, or may. Letters, digits, spaces and commas create none. */
const SIGNS = new Set("[]()!*_~`<>&\\|@:#+-=.^$")
/** Characters whose meaning depends on the rest of the paragraph, so that a parser looks ahead from each. */
const LOOK_AHEAD = new Set("[]()!*_~`<>&\\@:+.")
/** Looking ahead over this many characters costs as much as creating one element. */
const AHEAD = 4000
/** Parsing this many plain characters costs about as much as rendering one element. */
const PLAIN = 100
/** The most nested lists and quotes. A parser processes the text once for each level. */
const MAX_DEPTH = 100

/**
 * The highest value of `readingCost` at which a reply should still be rendered as Markdown; show a more expensive one
 * as plain text. Equals about one book chapter.
 */
export const MAX_READING_COST = 10_000

const LINE_END = /\r\n?|\n/g
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const ITEM = /^ {0,3}(?:([-*+])|(\d{1,9})[.)])[ \t]+\S/

/**
 * Estimates the cost of parsing and rendering a text as Markdown, in elements. Markdown parsers take quadratic time for
 * some texts (`[[[[…`, `*_*_…`, `1. 1. 1. …`), so check untrusted text with this first. Runs in linear time itself.
 */
export function readingCost(text: string): number {
  const paragraph = new Paragraph()
  let fence: string | undefined
  // If a parser might disagree about where code ends, everything after it counts as prose.
  let mayBeCode = true
  let cost = 0
  let containers = 0
  for (const line of linesOf(text)) {
    cost += line.length / PLAIN
    const mark = FENCE.exec(line)?.[1]
    if (fence !== undefined && mayBeCode) {
      if (!mark || mark[0] !== fence[0] || mark.length < fence.length) continue
      if (/^ {0,3}[`~]+[ \t]*$/.test(line)) fence = undefined
      else mayBeCode = false
      continue
    }
    const { depth, tokens } = containersOf(line)
    if (depth > MAX_DEPTH) return Infinity
    containers += tokens
    if (/^ {0,3}</.test(line)) mayBeCode = false
    // An indented fence may be in a list and end with it; one with backticks after it is not a fence.
    if (mark && mayBeCode && line.startsWith(mark) && !line.slice(mark.length).includes("`")) {
      cost += paragraph.end() + 1
      fence = mark
      continue
    }
    if (paragraph.endsBefore(line)) cost += paragraph.end()
    paragraph.add(line)
  }
  // A parser scans a list once more for each of its items.
  return cost + paragraph.end() + containers ** 2 / AHEAD
}

/** Splits at all line ends that Markdown parsers accept. */
function* linesOf(text: string): Generator<string> {
  let from = text.startsWith("\uFEFF") ? 1 : 0
  for (const { 0: end, index } of text.matchAll(LINE_END)) {
    yield text.slice(from, index)
    from = index + end.length
  }
  yield text.slice(from)
}

/** Lines that a parser may join. Ends only where a paragraph certainly ends. */
class Paragraph {
  #length = 0
  #signs = 0
  #lookAhead = 0
  #pipes = 0
  #isNumbered = false

  endsBefore(line: string): boolean {
    if (/^[ \t]*$/.test(line)) return true
    const item = ITEM.exec(line)
    // Within a paragraph a number starts an item only if it is 1, or among numbered items.
    return item !== null && (item[1] !== undefined || item[2] === "1" || this.#isNumbered)
  }

  add(line: string): void {
    if (this.#length === 0) this.#isNumbered = ITEM.exec(line)?.[2] !== undefined
    this.#length += line.length + 1
    this.#signs += 1
    for (const sign of line) {
      if (!SIGNS.has(sign)) continue
      this.#signs += 1
      if (LOOK_AHEAD.has(sign)) this.#lookAhead += 1
      else if (sign === "|") this.#pipes += 1
    }
  }

  end(): number {
    const cost = this.#signs + (this.#lookAhead * this.#length) / AHEAD + this.#pipes ** 2 / AHEAD
    this.#length = this.#signs = this.#lookAhead = this.#pipes = 0
    return cost
  }
}

/** Counts the lists and quotes that a line starts, and how deeply it may be nested. */
function containersOf(line: string): { readonly tokens: number; readonly depth: number } {
  const container = /[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))/y
  let tokens = 0
  let end = 0
  while (container.test(line)) {
    tokens += 1
    end = container.lastIndex
  }
  const spaces = line.slice(0, end).replaceAll(/[^ \t]/g, "").length
  return { tokens, depth: tokens + spaces / 2 }
}
