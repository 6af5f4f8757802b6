import { Lexer, type Token, type Tokens } from "marked"
import { type Formula, protectMath, withFormulas } from "../../../client/protect-math.ts"
import { MAX_READING_COST, readingCost } from "../../../client/reading-cost.ts"
import { BOLD, DIM, type Line, line, prefixed, type Span, span, type Style } from "../line.ts"
import { printable, printableLines } from "../printable.ts"
import { tableLines } from "./table-lines.ts"
import { chop, wrap } from "../wrap.ts"

const CODE: Style = { colour: "cyan" }
const QUOTE = "│ "

/**
 * Markdown as lines of a terminal. HTML is shown as text, an image as its alternative text, a link with its address.
 */
export function markdownLines(text: string, width: number): Line[] {
  try {
    if (readingCost(text) > MAX_READING_COST) throw new RangeError("more than a person waits for")
    const { text: given, formulas } = protectMath(text, false)
    const tokens = new Lexer({ gfm: true }).lex(given)
    return blocksToLines(formulas ? restored(tokens, formulas) : tokens, width)
  } catch {
    // Some texts exceed the stack or take too long to parse: they are shown as plain text.
    return printableLines(text).flatMap((each) => chop(line(each), width))
  }
}

/** Restores formulas: Markdown would remove their backslashes and read their underscores as emphasis. */
function restored<Value>(value: Value, formulas: readonly Formula[]): Value {
  if (typeof value === "string") return withFormulas(value, (index) => formulas[index]?.source) as Value
  if (Array.isArray(value)) return value.map((each) => restored(each as unknown, formulas)) as Value
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, restored(each, formulas)])) as Value
}

/**
 * The length of the beginning of an unfinished reply that will not change any more: all but its last block. A link
 * definition that follows later does not apply to it.
 */
export function settledLength(text: string): number {
  const plain = text.replaceAll("\r\n", "\n")
  const length = settledIn(plain)
  if (plain.length === text.length) return length
  let at = 0
  for (let counted = 0; counted < length; counted++) at += text.startsWith("\r\n", at) ? 2 : 1
  return at
}

function settledIn(text: string): number {
  const tokens = blockTokens(text)
  let length = 0
  for (const token of tokens.slice(0, -1)) length += token.raw.length
  // An empty line ends a block, except for those that can continue after one.
  const last = tokens.at(-1)
  if (last?.type === "space") {
    const before = tokens.at(-2)
    return before && ["list", "blockquote", "code"].includes(before.type) ? length - before.raw.length : text.length
  }
  return length
}

/** Empty if the text is too complex: then nothing is final before the reply is complete. */
function blockTokens(text: string): readonly Token[] {
  if (readingCost(text) > MAX_READING_COST) return []
  try {
    return new Lexer({ gfm: true }).blockTokens(text)
  } catch {
    return []
  }
}

/** Deeply nested quotes and lists would leave no room; such lines are wider than the screen. */
const NARROWEST = 8

function blocksToLines(tokens: readonly Token[], room: number): Line[] {
  const width = Math.max(room, NARROWEST)
  const lines: Line[] = []
  for (const token of tokens) {
    if (token.type === "space" || token.type === "def") continue
    const block = blockToLines(token, width)
    if (lines.length > 0 && block.length > 0) lines.push([])
    lines.push(...block)
  }
  return lines
}

function blockToLines(token: Token, room: number): Line[] {
  const width = Math.max(room, NARROWEST)
  switch (token.type) {
    case "heading":
      return wrap([span(`${"#".repeat((token as Tokens.Heading).depth)} `, DIM), ...inline(token.tokens, BOLD)], width)
    case "paragraph":
    case "text":
      return wrapAll(token.tokens ? inline(token.tokens) : toSpans(token.raw), width)
    case "code":
      return codeLines(token as Tokens.Code, width)
    case "blockquote":
      return blocksToLines(token.tokens ?? [], width - QUOTE.length).map((each) => prefixed(QUOTE, each, DIM))
    case "list":
      return listLines(token as Tokens.List, width)
    case "table":
      return markdownTable(token as Tokens.Table, width)
    case "hr":
      return [line("─".repeat(Math.min(width, 40)), DIM)]
    default:
      // HTML and unknown tokens as plain text.
      return printableLines(token.raw.trimEnd()).flatMap((each) => wrap(line(each), width))
  }
}

function codeLines({ text, lang }: Tokens.Code, width: number): Line[] {
  const head = lang ? [line(`  ${printable(lang)}`, DIM)] : []
  const body = printableLines(text).flatMap((each) => chop(line(each, CODE), width - 2))
  return [...head, ...body.map((each) => prefixed("  ", each))]
}

function listLines({ items, ordered, start, loose }: Tokens.List, width: number): Line[] {
  return items.flatMap((item, index) => {
    const box = item.task ? (item.checked ? "[x] " : "[ ] ") : ""
    const marker = `${ordered ? `${Number(start || 1) + index}.` : "•"} ${box}`
    const inner = width - marker.length
    // The check box is also a token.
    const tokens = item.tokens.filter(({ type }) => type !== "checkbox")
    const lines = loose ? blocksToLines(tokens, inner) : tokens.flatMap((token) => blockToLines(token, inner))
    const all = lines.length > 0 ? lines : [[]]
    const drawn = all.map((each, at) =>
      at === 0 ? prefixed(marker, each, DIM) : prefixed(" ".repeat(marker.length), each),
    )
    return loose && index < items.length - 1 ? [...drawn, []] : drawn
  })
}

function markdownTable({ header, rows }: Tokens.Table, width: number): Line[] {
  const cell = ({ tokens }: Tokens.TableCell) =>
    inline(tokens)
      .map(({ text }) => text)
      .join("")
  return tableLines({ columns: header.map(cell), rows: rows.map((row) => row.map(cell)) }, width)
}

/** Spans with a line break become separate lines. */
function wrapAll(spans: readonly Span[], width: number): Line[] {
  const lines: Span[][] = [[]]
  for (const each of spans) {
    if (each.text === "\n") lines.push([])
    else lines.at(-1)?.push(each)
  }
  return lines.flatMap((each) => wrap(each, width))
}

function inline(tokens: readonly Token[] = [], style?: Style): Span[] {
  return tokens.flatMap((token): Span[] => {
    const within = "tokens" in token ? token.tokens : undefined
    const inner = (added: Style) => inline(within, { ...style, ...added })
    switch (token.type) {
      case "strong":
        return inner({ bold: true })
      case "em":
        return inner({ italic: true })
      case "del":
        return inner({ strike: true })
      case "codespan":
        return [span(printable((token as Tokens.Codespan).text), { ...style, ...CODE })]
      case "br":
        return [span("\n")]
      case "link":
        return linkSpans(token as Tokens.Link, inner({ underline: true }))
      case "image":
        return toSpans(`[image: ${(token as Tokens.Image).text}]`, style)
      case "escape":
        return toSpans((token as Tokens.Escape).text, style)
      default:
        return within ? inline(within, style) : toSpans(token.raw, style)
    }
  })
}

function linkSpans({ href, text }: Tokens.Link, words: Span[]): Span[] {
  const isSame = href === text || href === `mailto:${text}`
  return isSame ? words : [...words, span(` (${printable(href)})`, DIM)]
}

/** Keeps line breaks within a paragraph: people who write in a terminal mean them. */
function toSpans(text: string, style?: Style): Span[] {
  return printableLines(text.trimEnd() === "" ? " " : text).flatMap((each, index) => [
    ...(index > 0 ? [span("\n")] : []),
    ...(each === "" ? [] : [span(each, style)]),
  ])
}
