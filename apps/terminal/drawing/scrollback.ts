import type { Item, ProposalItem, Transcript } from "../../../client/transcript/transcript.ts"
import { lateLines } from "./call-lines.ts"
import { endingLines, isFinal, itemLines, reasonedLines, replyLines } from "./item-lines.ts"
import type { Line, Room } from "../line.ts"
import { settledLength } from "./markdown-lines.ts"
import { thinkingLines, thoughtLines } from "./thought-lines.ts"
import { lineWidth } from "../wrap.ts"

/** What is printed once and then belongs to the terminal. */
export interface ScrollbackEntry {
  readonly key: string
  readonly lines: readonly Line[]
}

interface Moving {
  /** How long a call works already. */
  readonly workingMs: (key: string) => number | undefined
  /** It is shown elsewhere. */
  readonly isHidden: (key: string) => boolean
}

/** How far back a result may still come for something that was printed without one. */
const LATE_WITHIN = 50

/**
 * Which part of a conversation has been printed for good, in order. A reply is printed block by block while it is written,
 * so that only its last block is drawn again and again.
 */
export class Scrollback {
  #entries: readonly ScrollbackEntry[] = []
  #next = 0
  #items: readonly Item[] = []
  /** The beginning of the open reply that stands in the scrollback already. */
  #said = ""
  /** And so does that it was thought about. */
  #hasThought = false
  #told = new Set<string>()
  #prints = 0

  get entries(): readonly ScrollbackEntry[] {
    return this.#entries
  }

  /** Another conversation: what is printed stays, and nothing of it is continued. */
  turnTo(lines: readonly Line[]): void {
    this.#next = 0
    this.#items = []
    this.#said = ""
    this.#hasThought = false
    this.print(lines)
  }

  print(lines: readonly Line[]): void {
    if (lines.length > 0) this.#entries = [...this.#entries, { key: String(++this.#prints), lines }]
  }

  /** The last of it, as much as fits: once more, for a screen that was cleared. */
  repeat({ columns, rows }: Room): void {
    const last: Line[] = []
    let left = rows
    for (const each of this.#entries.flatMap(({ lines }) => lines).reverse()) {
      left -= Math.max(1, Math.ceil(lineWidth(each) / columns))
      if (left < 0) break
      last.unshift(each)
    }
    this.print(last)
  }

  /** Prints what has become final. */
  take({ items, writing, thinking }: Transcript, width: number): void {
    if (items !== this.#items) this.#takeItems(items, width)
    if (writing === null || this.#next < items.length) return
    if (!writing.startsWith(this.#said)) {
      this.#said = "" // another reply, of which nothing stands here yet
      this.#hasThought = false
    }
    const rest = writing.slice(this.#said.length)
    const settled = rest.slice(0, settledLength(rest))
    if (settled.trim() === "") return
    if (thinking && !this.#hasThought) {
      this.print(thoughtLines(thinking.ms, width))
      this.#hasThought = true
    }
    this.print(replyLines(settled, width))
    this.#said += settled
  }

  /** What is not final yet, for the part of the screen that is drawn anew. */
  live({ items, writing, thinking }: Transcript, width: number, { workingMs, isHidden }: Moving): Line[] {
    const moving = items.slice(this.#next).filter(({ key }) => !isHidden(key))
    const context = (key: string) => ({ workingMs: workingMs(key), proposal: proposalOf(items, key) })
    const lines = moving.flatMap((item) => itemLines(item, width, context(item.key)))
    if (writing === null) return thinking ? [...lines, ...thinkingLines(thinking, width)] : lines
    const thought = thinking && !this.#hasThought ? thoughtLines(thinking.ms, width) : []
    return [...lines, ...thought, ...replyLines(writing.slice(this.#said.length), width)]
  }

  #takeItems(items: readonly Item[], width: number): void {
    this.#items = items
    for (let item = items[this.#next]; item && isFinal(item); item = items[this.#next]) {
      this.print(this.#linesOf(item, width))
      this.#next++
    }
    for (const item of items.slice(Math.max(0, this.#next - LATE_WITHIN), this.#next)) {
      if (item.type !== "call" || !item.delayedResult || this.#told.has(item.key)) continue
      this.#told.add(item.key)
      this.print(lateLines(item.delayedResult, width))
    }
  }

  #linesOf(item: Item, width: number): Line[] {
    if (item.type === "call" && item.delayedResult) this.#told.add(item.key)
    if (item.type === "message" && item.message.role === "assistant") {
      const { content } = item.message
      const said = content.startsWith(this.#said) ? this.#said.length : 0
      const thought = this.#hasThought && said > 0 ? [] : reasonedLines(item.message, width)
      this.#said = ""
      this.#hasThought = false
      return [...thought, ...replyLines(content.slice(said), width), ...endingLines(item.message, width)]
    }
    if (item.type === "notice") {
      this.#said = ""
      this.#hasThought = false
    }
    return itemLines(item, width, { proposal: proposalOf(this.#items, item.key) })
  }
}

/** What was asked about a call, as it was last. */
function proposalOf(items: readonly Item[], callId: string): ProposalItem | undefined {
  const found = items.findLast((item) => item.type === "proposal" && item.proposal.callId === callId)
  return found?.type === "proposal" ? found : undefined
}
