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
