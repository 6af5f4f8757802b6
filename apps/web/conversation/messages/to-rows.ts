import { useRef } from "react"
import {
  type CallItem,
  type Item,
  type MessageItem,
  type NoticeItem,
  type ProposalItem,
  type ShownMessage,
  type StepItem,
  type UnknownItem,
  describeEnding,
} from "../../../../client/index.ts"
import type { Reasoning } from "../../../../core/protocol/index.ts"
import type { Sending } from "../../state/outbox.ts"

/** A reply in this list has only reasoning, no text. */
export type WorkItem = CallItem | StepItem | MessageItem

export type Row =
  | { readonly type: "user"; readonly key: string; readonly item: MessageItem }
  /** Without an item while it streams. */
  | {
      readonly type: "reply"
      readonly key: string
      readonly text: string
      readonly item?: MessageItem
      /** The reasoning so far. */
      readonly thinking?: Reasoning | undefined
      readonly isLast: boolean
      /** The activity before the first word of the reply, if known. */
      readonly doing?: string
    }
  /** Calls, steps and reasoning between two texts, in order. */
  | {
      readonly type: "work"
      readonly key: string
      readonly items: readonly WorkItem[]
      /** When the previous item was recorded. */
      readonly since: string | undefined
    }
  /** With its call, which is not listed separately: the card shows the outcome. */
  | { readonly type: "proposal"; readonly key: string; readonly item: ProposalItem; readonly call?: CallItem }
  | { readonly type: "notice"; readonly key: string; readonly item: NoticeItem }
  | { readonly type: "unknown"; readonly key: string; readonly item: UnknownItem }

/**
 * Converts the items of a transcript to rows. A reply without text has only its calls, or the reason why it has no
 * text.
 */
export function toRows(items: readonly Item[]): Row[] {
  const rows: Row[] = []
  let work: WorkItem[] | undefined
  let since: string | undefined
  const cards = cardsOf(items)
  for (const item of items) {
    if (item.type === "message") since = item.message.createdAt
    if (item.type === "call" && cards.has(item.key)) continue
    if (item.type === "call" || item.type === "step") {
      if (work) work.push(item)
      else rows.push({ type: "work", key: item.key, items: (work = [item]), since })
      continue
    }
    if (item.type === "message" && isBlank(item.message) && describeEnding(item.message) === undefined) {
      if (rows.at(-1)?.type === "proposal") work = undefined
      if (!item.message.reasoning) continue
      if (work) work.push(item)
      else rows.push({ type: "work", key: item.key, items: (work = [item]), since })
      continue
    }
    // The cards of a reply go below all of its calls.
    if (item.type !== "proposal") work = undefined
    rows.push(toRow(item, cards))
  }
  // How the last run ended is shown at the end of the list.
  const last = rows.at(-1)
  if (last?.type === "notice" && (last.item.notice === "cancelled" || last.item.notice === "failed")) rows.pop()
  return rows
}

const isBlank = ({ role, content }: MessageItem["message"]): boolean => role === "assistant" && content.trim() === ""

/** Calls with a card; for an edited proposal the newest card. */
function cardsOf(items: readonly Item[]): ReadonlyMap<string, { readonly card: string; call?: CallItem }> {
  const cards = new Map<string, { card: string; call?: CallItem }>()
  for (const item of items) if (item.type === "proposal") cards.set(item.proposal.callId, { card: item.key })
  if (cards.size === 0) return cards
  for (const item of items) {
    const found = item.type === "call" ? cards.get(item.key) : undefined
    if (found) found.call = item as CallItem
  }
  return cards
}

function toRow(item: MessageItem | ProposalItem | NoticeItem | UnknownItem, cards: ReturnType<typeof cardsOf>): Row {
  const { key } = item
  if (item.type === "proposal") {
    const found = cards.get(item.proposal.callId)
    return { type: "proposal", key, item, ...(found?.card === key && found.call ? { call: found.call } : {}) }
  }
  if (item.type !== "message") return { type: item.type, key, item } as Row
  if (item.message.role === "user") return { type: "user", key, item }
  // One can branch only from the last text of a run, because the run continues after a reply with tool calls.
  return { type: "reply", key, text: item.message.content, item, isLast: item.message.toolCalls === null }
}

/** Whether two rows look the same: most rows do not change while the last one grows. */
export function isSameRow(a: Row, b: Row): boolean {
  if (a.type === "work" && b.type === "work") {
    return a.items.length === b.items.length && a.items.every((item, index) => item === b.items[index])
  }
  if (a.type === "proposal" && b.type === "proposal" && a.call !== b.call) return false
  if (a.type === "reply" && b.type === "reply")
    return a.item === b.item && a.text === b.text && a.thinking === b.thinking && a.doing === b.doing
  return a.type !== "work" && b.type !== "work" && a.item === b.item
}

/**
 * Messages that are not in the conversation yet. A message may arrive over the stream before the response to its
 * request; without this it would be shown twice.
 */
export function useUndelivered(sending: readonly Sending[], items: readonly Item[]): readonly Sending[] {
  const since = useRef(new Map<string, number>()).current
  const last = lastSeq(items)
  for (const { key } of sending) if (!since.has(key)) since.set(key, last)
  return undelivered(sending, items, since)
}

/** `since`: by key, the newest message at the time of sending. */
function undelivered(
  sending: readonly Sending[],
  items: readonly Item[],
  since: ReadonlyMap<string, number>,
): readonly Sending[] {
  if (sending.length === 0) return sending
  const oldest = Math.min(...sending.map(({ key }) => since.get(key) ?? Infinity))
  const come = items.flatMap((item) =>
    item.type === "message" && item.message.role === "user" && item.message.seq > oldest ? [item.message] : [],
  )
  return sending.filter(({ key, text, state }) => {
    // The person must see what was refused.
    if (state === "refused" || state === "old") return true
    const at = come.findIndex((message) => message.seq > (since.get(key) ?? Infinity) && isSameText(message, text))
    // The same text sent twice appears twice.
    if (at >= 0) come.splice(at, 1)
    return at < 0
  })
}

const lastSeq = (items: readonly Item[]): number => {
  const last = items.findLast((item) => item.type === "message")
  return last?.type === "message" ? last.message.seq : 0
}

/** The transcript has only the beginning of a long message. */
const isSameText = ({ content, length }: ShownMessage, text: string): boolean =>
  length === undefined ? content.trim() === text.trim() : text.trim().startsWith(content.trim())
