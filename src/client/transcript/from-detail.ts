import { stateByProposal } from "../../protocol/calls/call-state.ts"
import type { ConversationDetail, HandedCall } from "../../protocol/answers.ts"
import { type Cursor, parseCursor } from "../../protocol/cursor.ts"
import type { CallId } from "../../protocol/ids.ts"
import type { Message } from "../../protocol/conversation/message.ts"
import type { NoticeView } from "../../protocol/notices.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { isSettled } from "../../protocol/proposals/status-after-call.ts"
import type { StepView } from "../../protocol/conversation/stages.ts"
import { callItems, proposalItem } from "./reduce-calls.ts"
import { toShownState } from "./shown-calls.ts"
import { type CallItem, emptyTranscript, type Item, type Transcript } from "./transcript.ts"

/** A transcript to begin with: what `readConversation` answers. */
export function fromDetail(detail: ConversationDetail): Transcript {
  return withDetail(emptyTranscript, detail)
}

/**
 * A transcript brought up to date by a newer `readConversation`, as after a long sleep; an older one changes nothing.
 * Where more was missed than the answer holds it begins anew with the answer, so that the list never has a hole.
 */
export function withDetail(transcript: Transcript, detail: ConversationDetail): Transcript {
  const { position, title, agent, model, mode, settings = {}, connectionId, status } = detail
  const { messages, proposals, expired = [], handedOver = [], context = null } = detail
  if (position <= (parseCursor(transcript.cursor) as Cursor).position) return transcript
  const items = isContinued(transcript.items, messages) ? [...transcript.items] : []
  addMessages(items, messages, detail)
  for (const each of handedOver) addHandedCall(items, each)
  // One whose reply lies before the list is left out, like its call.
  const isHere = ({ id, callId }: Proposal) => items.some(({ key }) => key === id || key === callId)
  const told = inOrder(expired.filter(isHere), proposals, items)
  const left = withoutDecided(items, new Set([...expired, ...proposals].map(({ id }) => id)))
  let after = 0
  for (const proposal of told) after = addProposal(left, proposal, after) + 1
  const head = { title, agent, model, mode, settings, connectionId, status }
  const rest = { writing: null, thinking: null, isSummingUp: false, run: null, usage: null }
  return { ...head, ...rest, items: left, context, cursor: String(position) }
}

/** What has expired among what is open, as it was proposed: by time, and within one moment by their calls. */
function inOrder(expired: readonly Proposal[], open: readonly Proposal[], items: readonly Item[]): Proposal[] {
  const told = [...open]
  const isBefore = (a: Proposal, b: Proposal) =>
    a.createdAt === b.createdAt ? findCall(items, a.callId) < findCall(items, b.callId) : a.createdAt < b.createdAt
  for (const proposal of expired) {
    const next = told.findIndex((each) => !expired.includes(each) && isBefore(proposal, each))
    told.splice(next === -1 ? told.length : next, 0, proposal)
  }
  return told
}

/** How a proposal ended that is open no longer only its call's result can tell; a call without one is at work again. */
function withoutDecided(items: readonly Item[], listed: ReadonlySet<string>): Item[] {
  const decided = items.flatMap((item) =>
    item.type === "proposal" && !isSettled(item.proposal.status) && !listed.has(item.key) ? [item] : [],
  )
  const calls = new Set(decided.map(({ proposal }) => proposal.callId))
  const gone = new Set<Item>(decided)
  return items.flatMap((item): Item[] => {
    if (gone.has(item)) return []
    // Only what was proposed again is expired no longer.
    if (item.type === "proposal" && item.proposal.status === "expired" && !listed.has(item.key))
      return [{ ...item, proposal: { ...item.proposal, status: "superseded" } }]
    return [item.type === "call" && !item.isOver && calls.has(item.key) ? { ...item, state: "asked" } : item]
  })
}

/** Whether messages go on where items end: they overlap, or there was nothing. */
function isContinued(items: readonly Item[], messages: readonly Message[]): boolean {
  const first = messages[0]
  const known = items.findLast((item) => item.type === "message")
  if (!first || !known) return items.length === 0 || !first || first.seq === 1
  return first.seq <= known.message.seq
}

/** What a server tells beside messages; one of before there was such a thing says nothing. */
export type Beside = Pick<ConversationDetail, "steps" | "notices">

/** Each message, then what was decided and what happened after it, in their order. */
export function addMessages(items: Item[], messages: readonly Message[], { steps = [], notices = [] }: Beside): void {
  const known = new Set(items.map(({ key }) => key))
  const unknown = [...steps, ...notices].filter(({ position }) => !known.has(String(position)))
  const after = Map.groupBy(
    unknown.sort((a, b) => a.position - b.position),
    (each) => each.after,
  )
  for (const message of messages) {
    addMessage(items, message)
    items.push(...(after.get(message.seq) ?? []).map(besideItem))
  }
}

function besideItem(beside: StepView | NoticeView): Item {
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

/** A result whose call lies before the list is left out, like its call. */
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

function addHandedCall(items: Item[], { callId, expiresAt: waitsUntil }: HandedCall): void {
  const index = findCall(items, callId)
  const call = items[index] as CallItem | undefined
  if (call && !call.isOver) items[index] = { ...call, state: "handed_over", waitsUntil }
}

/** After the calls of its reply and what was proposed before it, where the stream would have brought it; where that is. */
function addProposal(items: Item[], proposal: Proposal, after: number): number {
  const item = proposalItem(proposal)
  const known = items.findIndex(({ type, key }) => type === "proposal" && key === proposal.id)
  const index = findCall(items, proposal.callId)
  const call = items[index] as CallItem | undefined
  if (call && !call.isOver)
    items[index] = { ...call, state: toShownState(stateByProposal(proposal.status)), input: proposal.arguments }
  if (known !== -1) {
    items[known] = { ...items[known], ...item }
    return known
  }
  // Its call is not here yet: the snapshot's proposals are newer than its messages.
  let place = index === -1 ? items.length : Math.max(index + 1, after)
  while (items[place]?.type === "call" || items[place]?.type === "proposal") place++
  items.splice(place, 0, item)
  return place
}

const findCall = (items: readonly Item[], id: CallId | null) =>
  items.findLastIndex((item) => item.type === "call" && item.key === id)
