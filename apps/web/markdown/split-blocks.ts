import { MAX_READING_COST, readingCost } from "../../../client/index.ts"

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const LIST = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
/** `[name]: address`, which any other block may refer to. */
const DEFINITION = /^ {0,3}\[(?!\^)[^\][\r\n\u2028\u2029]{1,999}\]:[ \t]*\S.*$/gm
const FOOTNOTE = /\[\^[^\][\r\n]{1,999}\]/
/** Each is read and drawn by itself, which takes its time; what is left over is one block more. */
const MAX_BLOCKS = 1000
/** What may be repeated in each block: longer lists of addresses are known where they stand. */
const MAX_SHARED = 10_000

/**
 * Markdown as blocks that mean the same alone as together, so that a reply that grows is read again only where it grows.
 * Cut at empty lines outside code, and never inside a list or something indented.
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
  /** Where it stands in the whole. */
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

/** What is still being written is read again with each piece that comes, so it may be less work than what is whole. */
const MAX_OPEN = 2000
/** Rules for colours look ahead as well, each language's in its own way: longer code has none. */
export const MAX_COLOURED = 20_000

interface BoundedBlock extends Block {
  /** More work than anybody waits for: it is shown as it was written. */
  readonly isPlain: boolean
}

/**
 * The blocks of a text, of which no more are read as markdown than can be in a moment, however they are written. What stands
 * before too much is drawn as ever, and stays so while a reply grows.
 */
export function boundedBlocks(text: string, isOpen: boolean): BoundedBlock[] {
  const blocks = splitBlocks(text)
  let spent = 0
  return blocks.map((block, index) => {
    if (spent > MAX_READING_COST) return { ...block, isPlain: true }
    const cost = 1 + readingCost(block.text)
    const isGrowing = isOpen && index === blocks.length - 1
    const isPlain = cost > (isGrowing ? MAX_OPEN : MAX_READING_COST - spent)
    // One that is too much by itself is not read, and leaves the others their share.
    if (!isPlain) spent += cost
    return { ...block, isPlain }
  })
}

const FENCE_LINE = /^[ \t>]{0,20}(?:`{3}|~{3}).*$/gm
/** What begins a line of markdown and is no word of it: headings, quotes, items, rules, the line below a table's head. */
const SIGNS = /^[ \t]{0,20}(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])[ \t]+)+|^[ \t]{0,20}[-=*_|: \t]{3,200}$/gm
const LINK = /!?\[([^\]\n]{0,500})\]\([^)\n]{0,1000}\)/g
const EMPHASIS = /(?<![\w*_\\])([*_]{1,3})(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\w*_])/g
/** More is in no preview, and the patterns above look ahead at every sign. */
const MAX_READ = 10_000

/** The words of a markdown text, for a few lines of preview: its signs gone, its lines joined. Not for anything but to look at. */
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
