import type { ConversationDetail, DelegatedCall, MessagePage } from "../../core/protocol/answers.ts"
import { stateByProposal } from "../../core/protocol/calls/call-state.ts"
import type { Message } from "../../core/protocol/conversation/message.ts"
import type { StepView } from "../../core/protocol/conversation/stages.ts"
import { type Cursor, parseCursor } from "../../core/protocol/cursor.ts"
import type { CallId } from "../../core/protocol/ids.ts"
import type { NoticeView } from "../../core/protocol/notices.ts"
import {
  type DecidedProposal,
  type DelayedResult,
  isSettled,
  type Proposal,
} from "../../core/protocol/proposals/proposal.ts"
import { callItems, proposalItem } from "./reduce-calls.ts"
import { toShownState } from "./shown-calls.ts"
import { type CallItem, type Item, type ProposalItem, type Transcript, emptyTranscript } from "./transcript.ts"

/** Creates a transcript from the response of `readConversation`. */
export function fromDetail(detail: ConversationDetail): Transcript {
  return withDetail(emptyTranscript, detail)
}

/**
 * Updates a transcript with a newer response of `readConversation`, for example after a long sleep. An older response
 * changes nothing. If there is a gap between the transcript and the response, the result contains only the response.
 */
export function withDetail(transcript: Transcript, detail: ConversationDetail): Transcript {
  const { position, title, agent, model, mode, settings = {}, connectionId, status } = detail
  const { messages, proposals, expired = [], handedOver = [], context = null } = detail
  if (position <= (parseCursor(transcript.cursor) as Cursor).position) return transcript
  const items = isContinued(transcript.items, messages) ? [...transcript.items] : []
  addMessages(items, messages, detail)
  for (const each of handedOver) addDelegatedCall(items, each)
  const { decided = [], lateResults = [] } = detail
  // A proposal whose reply is before the list is omitted, like its call.
  const isHere = ({ id, callId }: Proposal) => items.some(({ key }) => key === id || key === callId)
  const known = new Set(decided.map(({ proposal }) => proposal.id))
  const over = [...decided, ...expired.filter(({ id }) => !known.has(id)).map(withoutDecision)]
  const rows = inOrder(
    over.filter(({ proposal }) => isHere(proposal)),
    proposals.filter(({ id }) => !known.has(id)).map(withoutDecision),
    items,
  )
  const left = withoutDecided(items, new Set(rows.map(({ proposal }) => proposal.id)))
  addProposals(left, rows)
  addLateResults(left, lateResults)
  const head = { title, agent, model, mode, settings, connectionId, status }
  const idle = { writing: null, thinking: null, isSummingUp: false, run: null, usage: null }
  return { ...head, ...idle, items: left, context, cursor: String(position) }
}

/** A proposal and its decision. Without a position, it is placed after the calls of its reply. */
type Told = Partial<Omit<DecidedProposal, "proposal">> & Pick<DecidedProposal, "proposal">

const withoutDecision = (proposal: Proposal): Told => ({ proposal })

/** Merges decided and open proposals in the order of their proposal, and then of their calls. */
function inOrder(decided: readonly Told[], open: readonly Told[], items: readonly Item[]): Told[] {
  const all = [...open]
  const placeOf = ({ callId }: Proposal) => findCall(items, callId)
  const isBefore = (a: Proposal, b: Proposal) =>
    a.createdAt === b.createdAt ? placeOf(a) <= placeOf(b) : a.createdAt < b.createdAt
  for (const each of decided) {
    const next = all.findIndex((other) => !decided.includes(other) && isBefore(each.proposal, other.proposal))
    all.splice(next === -1 ? all.length : next, 0, each)
  }
  return all
}

/**
 * Removes open proposals that are no longer listed: their call's result says how they ended, and a call without one is
 * running.
 */
function withoutDecided(items: readonly Item[], listed: ReadonlySet<string>): Item[] {
  const decided = items.flatMap((item) =>
    item.type === "proposal" && !isSettled(item.proposal.status) && !listed.has(item.key) ? [item] : [],
  )
  const calls = new Set(decided.map(({ proposal }) => proposal.callId))
  const gone = new Set<Item>(decided)
  return items.flatMap((item): Item[] => {
    if (gone.has(item)) return []
    // An expired proposal is removed only if it was proposed again.
    if (item.type === "proposal" && item.proposal.status === "expired" && !listed.has(item.key))
      return [{ ...item, proposal: { ...item.proposal, status: "superseded" } }]
    return [item.type === "call" && !item.isOver && calls.has(item.key) ? { ...item, state: "asked" } : item]
  })
}

/** Returns true if the messages continue the items: they overlap, or there were no items. */
function isContinued(items: readonly Item[], messages: readonly Message[]): boolean {
  const first = messages[0]
  const known = items.findLast((item) => item.type === "message")
  if (!first || !known) return items.length === 0 || !first || first.seq === 1
  return first.seq <= known.message.seq
}

/** The data that a server sends with messages. Older servers omit some of it. */
export type DetailRows = Pick<ConversationDetail, "steps" | "notices" | "decided" | "lateResults">

/** Adds messages, with the steps and notices after each. */
export function addMessages(
  items: Item[],
  messages: readonly Message[],
  { steps = [], notices = [] }: DetailRows,
): void {
  const known = new Set(items.map(({ key }) => key))
  const unknown = [...steps, ...notices].filter(({ position }) => !known.has(String(position)))
  const after = Map.groupBy(
    unknown.sort((a, b) => a.position - b.position),
    (each) => each.after,
  )
  for (const message of messages) {
    addMessage(items, message)
    items.push(...(after.get(message.seq) ?? []).map(itemOf))
  }
}

function itemOf(beside: StepView | NoticeView): Item {
  const key = String(beside.position)
  if ("notice" in beside) {
    const { notice, detail, summedUp } = beside
    return { type: "notice", key, notice, detail, ...(summedUp ? { summedUp } : {}) }
  }
  const { position: _, after: __, ...step } = beside
  return { type: "step", key, ...step, detail: step.detail }
}

function addMessage(items: Item[], message: Message): void {
  if (message.role === "tool") return addResult(items, message)
  if (items.some((item) => item.type === "message" && item.key === message.id)) return
  items.push({ type: "message", key: message.id, message }, ...callItems(message.toolCalls ?? []))
}

/** A result is dropped if its call is before the start of the list. */
function addResult(items: Item[], { toolCallId, content, data, status, ms }: Message): void {
  const index = findCall(items, toolCallId)
  const call = items[index] as CallItem | undefined
  if (!call || call.isOver) return
  items[index] = {
    ...call,
    ...{ state: status ?? "ended", isOver: true, waitsUntil: undefined, text: content, ms: ms ?? null },
    ...(data === undefined ? {} : { data }),
  }
}

function addDelegatedCall(items: Item[], { callId, expiresAt: waitsUntil }: DelegatedCall): void {
  const index = findCall(items, callId)
  const call = items[index] as CallItem | undefined
  if (call && !call.isOver) items[index] = { ...call, state: "handed_over", waitsUntil }
}

/** Adds proposals in this order, and sets the arguments of their calls. */
function addProposals(items: Item[], all: readonly Told[]): void {
  let after = 0
  for (const each of all) after = addProposal(items, each, after) + 1
}

/**
 * Inserts a proposal after the calls of its reply and previous proposals, where the stream would have added it. Returns
 * its index.
 */
function addProposal(items: Item[], rows: Told, after: number): number {
  const { proposal, decidedBy = null, reason = null, editedTo, position } = rows
  const item = { ...proposalItem(proposal), decidedBy, reason }
  const known = items.findIndex(({ type, key }) => type === "proposal" && key === proposal.id)
  const index = findCall(items, proposal.callId)
  const call = items[index] as CallItem | undefined
  if (call) {
    const { status } = proposal
    // Later frames contain its outcome.
    const state = isSettled(status) && position !== undefined ? "asked" : toShownState(stateByProposal(status))
    items[index] = { ...call, ...(call.isOver ? {} : { state }), input: editedTo ?? proposal.arguments }
  }
  if (known !== -1) {
    // An older server does not send who decided.
    const isSaid = position !== undefined || proposal.status === "pending"
    items[known] = isSaid ? item : { ...(items[known] as ProposalItem), proposal }
    return known
  }
  // Its call is not in the list yet: a snapshot's proposals are newer than its messages.
  let place = index === -1 ? items.length : Math.max(index + 1, after)
  const isBefore = (other: Item | undefined) =>
    other?.type === "call" ||
    other?.type === "proposal" ||
    ((other?.type === "step" || other?.type === "notice") && position !== undefined && Number(other.key) < position)
  while (isBefore(items[place])) place++
  items.splice(place, 0, item)
  return place
}

function addLateResults(items: Item[], results: readonly DelayedResult[]): void {
  for (const { callId, status, text } of results) {
    const index = findCall(items, callId)
    if (index !== -1) items[index] = { ...(items[index] as CallItem), delayedResult: { status, text } }
  }
}

const findCall = (items: readonly Item[], id: CallId | null) =>
  items.findLastIndex((item) => item.type === "call" && item.key === id)

/**
 * Adds a page of older messages at the start. Request it with `before` set to `olderThan`, so that results whose calls
 * were missing are added with them.
 */
export function withOlderMessages(transcript: Transcript, page: Omit<MessagePage, "nextBefore">): Transcript {
  const known = new Set(transcript.items.map(({ key }) => key))
  const items: Item[] = []
  addMessages(items, page.items, page)
  addProposals(
    items,
    (page.decided ?? []).filter(({ proposal }) => !known.has(proposal.id)),
  )
  addLateResults(items, page.lateResults ?? [])
  const older = items.filter(({ key }) => !known.has(key))
  return older.length === 0 ? transcript : { ...transcript, items: [...older, ...transcript.items] }
}

/** The `seq` to read older messages before; null if the transcript starts with the first message. */
export function olderThan({ items }: Transcript): number | null {
  const first = items.find((item) => item.type === "message")
  return first && first.message.seq > 1 ? first.message.seq : null
}
