import type { Item, ProposalItem, Transcript } from "../../../client/transcript/transcript.ts"
import { delayedResultLines } from "./call-lines.ts"
import { endingLines, isFinal, itemLines, reasoningSummaryLines, replyLines } from "./item-lines.ts"
import type { Line, Room } from "../line.ts"
import { settledLength } from "./markdown-lines.ts"
import { thinkingLines, reasoningHeadLines } from "./reasoning-lines.ts"
import { lineWidth } from "../wrap.ts"

/** Printed once; after that the terminal's own scrollback holds it. */
export interface ScrollbackEntry {
  readonly key: string
  readonly lines: readonly Line[]
}

interface LiveContext {
  /** How long a call has been running. */
  readonly workingMs: (key: string) => number | undefined
  readonly isHidden: (key: string) => boolean
}

/** The number of previous items that are searched for the call of a delayed result. */
const DELAYED_WITHIN = 50

/**
 * Tracks what has been printed. A reply is printed block by block while it streams, so that only its last block is
 * redrawn.
 */
export class Scrollback {
  #entries: readonly ScrollbackEntry[] = []
  #next = 0
  #items: readonly Item[] = []
  /** The beginning of the streaming reply that has been printed. */
  #printedReply = ""
  /** Whether the reasoning of the streaming reply has been printed. */
  #hasPrintedReasoning = false
  #printedDelayed = new Set<string>()
  #prints = 0

  get entries(): readonly ScrollbackEntry[] {
    return this.#entries
  }

  /** Another conversation is shown: what was printed stays, and is not continued. */
  startConversation(lines: readonly Line[]): void {
    this.#next = 0
    this.#items = []
    this.#printedReply = ""
    this.#hasPrintedReasoning = false
    this.print(lines)
  }

  print(lines: readonly Line[]): void {
    if (lines.length > 0) this.#entries = [...this.#entries, { key: String(++this.#prints), lines }]
  }

  /** Prints the last lines that fit again, after the screen was cleared. */
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

  /** Prints the items that have become final. */
  printFinal({ items, writing, thinking }: Transcript, width: number): void {
    if (items !== this.#items) this.#printItems(items, width)
    if (writing === null || this.#next < items.length) return
    if (!writing.startsWith(this.#printedReply)) {
      this.#printedReply = "" // another reply has started
      this.#hasPrintedReasoning = false
    }
    const rest = writing.slice(this.#printedReply.length)
    const settled = rest.slice(0, settledLength(rest))
    if (settled.trim() === "") return
    if (thinking && !this.#hasPrintedReasoning) {
      this.print(reasoningHeadLines(thinking.ms, width))
      this.#hasPrintedReasoning = true
    }
    this.print(replyLines(settled, width))
    this.#printedReply += settled
  }

  /** The items that are not final, for the part of the screen that is redrawn. */
  live({ items, writing, thinking }: Transcript, width: number, { workingMs, isHidden }: LiveContext): Line[] {
    const unprinted = items.slice(this.#next).filter(({ key }) => !isHidden(key))
    const context = (key: string) => ({ workingMs: workingMs(key), proposal: proposalOf(items, key) })
    const lines = unprinted.flatMap((item) => itemLines(item, width, context(item.key)))
    if (writing === null) return thinking ? [...lines, ...thinkingLines(thinking, width)] : lines
    const reasoning = thinking && !this.#hasPrintedReasoning ? reasoningHeadLines(thinking.ms, width) : []
    return [...lines, ...reasoning, ...replyLines(writing.slice(this.#printedReply.length), width)]
  }

  #printItems(items: readonly Item[], width: number): void {
    this.#items = items
    for (let item = items[this.#next]; item && isFinal(item); item = items[this.#next]) {
      this.print(this.#linesOf(item, width))
      this.#next++
    }
    for (const item of items.slice(Math.max(0, this.#next - DELAYED_WITHIN), this.#next)) {
      if (item.type !== "call" || !item.delayedResult || this.#printedDelayed.has(item.key)) continue
      this.#printedDelayed.add(item.key)
      this.print(delayedResultLines(item.delayedResult, width))
    }
  }

  #linesOf(item: Item, width: number): Line[] {
    if (item.type === "call" && item.delayedResult) this.#printedDelayed.add(item.key)
    if (item.type === "message" && item.message.role === "assistant") {
      const { content } = item.message
      const printedLength = content.startsWith(this.#printedReply) ? this.#printedReply.length : 0
      const reasoning = this.#hasPrintedReasoning && printedLength > 0 ? [] : reasoningSummaryLines(item.message, width)
      this.#printedReply = ""
      this.#hasPrintedReasoning = false
      return [...reasoning, ...replyLines(content.slice(printedLength), width), ...endingLines(item.message, width)]
    }
    if (item.type === "notice") {
      this.#printedReply = ""
      this.#hasPrintedReasoning = false
    }
    return itemLines(item, width, { proposal: proposalOf(this.#items, item.key) })
  }
}

/** The latest proposal of a call. */
function proposalOf(items: readonly Item[], callId: string): ProposalItem | undefined {
  const found = items.findLast((item) => item.type === "proposal" && item.proposal.callId === callId)
  return found?.type === "proposal" ? found : undefined
}
