import { MAX_READING_COST, readingCost } from "../../src/client/index.ts"
import { type Block, splitBlocks } from "./split-blocks.ts"

/** What is still being written is read again with each piece that comes, so it may be less work than what is whole. */
const MAX_OPEN = 2000
/** Rules for colours look ahead as well, each language's in its own way: longer code has none. */
export const MAX_COLOURED = 20_000

export interface BoundedBlock extends Block {
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
