import { MAX_READING_COST, readingCost } from "../../../client/index.ts"

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const LIST = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
/** `[name]: address`, which any other block may refer to. */
const DEFINITION = /^ {0,3}\[(?!\^)[^\][\r\n\u2028\u2029]{1,999}\]:[ \t]*\S.*$/gm
const FOOTNOTE = /\[\^[^\][\r\n]{1,999}\]/
/** Each block is parsed separately, which takes time; the rest becomes one more block. */
const MAX_BLOCKS = 1000
/** The size of definitions that may be repeated in each block; longer lists work only where they are. */
const MAX_SHARED = 10_000

/**
 * Splits Markdown into blocks that can be parsed separately, so that only the last one is parsed again while a reply
 * streams. Split at empty lines outside code, lists and indentation.
 */
export function splitBlocks(text: string): Block[] {
  if (FOOTNOTE.test(text)) return [{ start: 0, text }]
  const blocks = cut(text)
  const definitions = text.match(DEFINITION)
  if (!definitions || blocks.length === 1) return blocks
  const shared = definitions.join("\n")
  if (shared.length > MAX_SHARED) return blocks
  return blocks.map((block) => (block.text.includes("[") ? { ...block, text: `${block.text}\n\n${shared}` } : block))
}

export interface Block {
  /** The offset in the text. */
  readonly start: number
  readonly text: string
}

function cut(text: string): Block[] {
  const blocks: Block[] = []
  let start = 0
  let at = 0
  let fence: string | undefined
  let afterEmpty = false
  let inList = false
  while (at < text.length) {
    const newline = text.indexOf("\n", at)
    const end = newline === -1 ? text.length : newline + 1
    const line = text.slice(at, end)
    const isEmpty = line.trim() === ""
    const isFull = blocks.length >= MAX_BLOCKS
    if (!isFull && fence === undefined && !isEmpty && afterEmpty && at > start && !/^[ \t]/.test(line)) {
      const isItem = LIST.test(line)
      if (!(inList && isItem)) {
        blocks.push({ start, text: text.slice(start, at) })
        start = at
        inList = false
      }
    }
    if (fence === undefined) {
      fence = FENCE.exec(line)?.[1]
      if (!isEmpty && at === start) inList = LIST.test(line)
    } else if (isClosing(line, fence)) fence = undefined
    afterEmpty = isEmpty && fence === undefined
    at = end
  }
  if (start < text.length) blocks.push({ start, text: text.slice(start) })
  return blocks
}

function isClosing(line: string, fence: string): boolean {
  const found = FENCE.exec(line)?.[1]
  return found !== undefined && found[0] === fence[0] && found.length >= fence.length && /^\s*[`~]+\s*$/.test(line)
}

/** A streaming block is parsed again for each piece, so its limit is lower. */
const MAX_OPEN = 2000
/** Highlighting rules have lookaheads of their own: longer code is not highlighted. */
export const MAX_COLOURED = 20_000

interface BoundedBlock extends Block {
  /** Too complex to parse: shown as plain text. */
  readonly isPlain: boolean
}

/**
 * Splits a text into blocks with a limit on parsing work, whatever the text is. Blocks before the limit stay as they
 * are while a reply grows.
 */
export function boundedBlocks(text: string, isOpen: boolean): BoundedBlock[] {
  const blocks = splitBlocks(text)
  let spent = 0
  return blocks.map((block, index) => {
    if (spent > MAX_READING_COST) return { ...block, isPlain: true }
    const cost = 1 + readingCost(block.text)
    const isGrowing = isOpen && index === blocks.length - 1
    const isPlain = cost > (isGrowing ? MAX_OPEN : MAX_READING_COST - spent)
    // A block that is too complex by itself is not parsed and does not count.
    if (!isPlain) spent += cost
    return { ...block, isPlain }
  })
}

const FENCE_LINE = /^[ \t>]{0,20}(?:`{3}|~{3}).*$/gm
/** Markdown syntax at the start of a line: headings, quotes, items, rules, the line below a table's head. */
const SIGNS = /^[ \t]{0,20}(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])[ \t]+)+|^[ \t]{0,20}[-=*_|: \t]{3,200}$/gm
const LINK = /!?\[([^\]\n]{0,500})\]\([^)\n]{0,1000}\)/g
const EMPHASIS = /(?<![\w*_\\])([*_]{1,3})(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\w*_])/g
/** A preview shows less, and the patterns above have lookaheads. */
const MAX_READ = 10_000

/** The text of Markdown for a short preview: without syntax, lines joined. For display only. */
export function toProse(text: string): string {
  return text
    .slice(0, MAX_READ)
    .replaceAll(FENCE_LINE, "")
    .replaceAll(SIGNS, "")
    .replaceAll(LINK, "$1")
    .replaceAll(EMPHASIS, "$2")
    .replaceAll(/`([^`\n]{1,500})`/g, "$1")
    .replaceAll(/(?<![ \t])[ \t]*\|[ \t]*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
}
