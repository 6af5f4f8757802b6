import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { ConversationStatus } from "../../protocol/conversation/conversation.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { CallId, ProposalId } from "../../protocol/ids.ts"
import type { CallView } from "../../protocol/conversation/message.ts"
import type { Proposal, ProposalStatus } from "../../protocol/proposals/proposal.ts"
import { isSettled, statusAfterCall } from "../../protocol/proposals/status-after-call.ts"
import type { z } from "zod"
import type { CallItem, Item, ProposalItem, Transcript } from "./transcript.ts"

/** The part of the reducer that follows calls and proposals; it says of them what the fold of the journal says. */
export const applyCalls = {
  tool_start(transcript: Transcript, { data: { callId, name, input } }: Frame<"tool_start">) {
    // The input stays as the item has it: what was agreed to is what runs.
    return changeCall(withCall(transcript, { id: callId, name, input }), callId, { state: "running" })
  },

  tool_end(transcript: Transcript, { data }: Frame<"tool_end">) {
    const { callId, name, status, text, ms, code } = data
    const result = { state: status, isOver: true, text, ms, ...(data.data === undefined ? {} : { data: data.data }) }
    const ended = changeCall(withCall(transcript, { id: callId, name, input: {} }), callId, result)
    return settle(ended, callId, { status: statusAfterCall[status], code })
  },

  awaiting_confirmation: (transcript: Transcript, { data: { proposals } }: Frame<"awaiting_confirmation">) =>
    proposals.reduce((before, proposal) => propose(before, proposal), transcript),

  proposal(transcript: Transcript, { data: { proposal, approvedBy } }: Frame<"proposal">) {
    return propose(transcript, proposal, approvedBy)
  },

  decision(transcript: Transcript, { data }: Frame<"decision">) {
    const { proposalId, decision, by, reason = null } = data
    const found = transcript.items.findLast((item) => isProposal(item, proposalId)) as ProposalItem | undefined
    if (!found) return transcript
    // What is rejected is settled by the result of its call, which follows.
    const status = decision === "commit" ? "applying" : decision === "edit" ? "superseded" : found.proposal.status
    const decided = changeProposal(transcript, proposalId, { status }, { decidedBy: by, reason })
    if (decision === "reject") return decided
    const edited = data.arguments ? { input: data.arguments } : {}
    return changeCall(decided, found.proposal.callId, {
      state: decision === "commit" ? "approved" : "asked",
      ...edited,
    })
  },

  /** What a grant has agreed to and what has not begun is asked about after all; what was done stays as it is. */
  grant_revoked(transcript: Transcript, { data: { tool } }: Frame<"grant_revoked">) {
    const isGranted = (item: Item): item is ProposalItem =>
      item.type === "proposal" &&
      item.proposal.status === "applying" &&
      // A snapshot does not tell who has decided. What a person agreed to begins next, and says so itself.
      (item.decidedBy === "grant" || item.decidedBy === null) &&
      (tool === undefined || item.proposal.tool === tool) &&
      transcript.items.some((call) => isCall(call, item.proposal.callId) && call.state === "approved")
    return transcript.items.filter(isGranted).reduce((before, { proposal: { id, callId } }) => {
      const asked = changeProposal(before, id, { status: "pending" }, { decidedBy: null })
      return changeCall(asked, callId, { state: "proposed" })
    }, transcript)
  },

  in_doubt: (transcript: Transcript, { data: { callId, because } }: Frame<"in_doubt">) =>
    settle(changeCall(transcript, callId, { state: "in_doubt", text: because }), callId, { status: "in_doubt" }),

  resolution(transcript: Transcript, { data: { callId, choice, by } }: Frame<"resolution">) {
    const status = ({ retry: "applying", done: "applied", abandon: "abandoned" } as const)[choice]
    const settled = settle(transcript, callId, { status })
    // What is said to be done or abandoned is ended by its result, which follows; one that has it changes no more.
    const isOpen = settled.items.some((item) => isCall(item, callId) && !item.isOver)
    if (!isOpen || choice !== "retry") return settled
    const tried = settled.items.findLast((item) => item.type === "proposal" && item.proposal.callId === callId)
    const decided = tried ? changeProposal(settled, tried.key as ProposalId, {}, { decidedBy: by }) : settled
    return changeCall(decided, callId, { state: "approved" })
  },

  late_result(transcript: Transcript, { data: { callId, status, text } }: Frame<"late_result">) {
    const told = changeCall(transcript, callId, { late: { status, text } })
    return settle(told, callId, { status: status === "ok" ? "applied" : "failed" })
  },
}

/** The calls of one reply. Those that are the same as one before them are carried out with it (see agent/duplicates.ts). */
export function callItems(calls: readonly z.infer<typeof CallView>[]): CallItem[] {
  if (calls.length < 2) return calls.map(callItem)
  const firsts = new Map<string, CallId>()
  return calls.map((call) => {
    const key = `${call.name} ${canonicalJson(call.input)}`
    const duplicateOf = firsts.get(key)
    if (duplicateOf) return { ...callItem(call), duplicateOf }
    firsts.set(key, call.id)
    return callItem(call)
  })
}

const callItem = ({ id, name, input }: z.infer<typeof CallView>): CallItem => ({
  type: "call",
  key: id,
  name,
  input,
  state: "asked",
  isOver: false,
  text: null,
  ms: null,
  late: null,
})

export const proposalItem = (proposal: Proposal, decidedBy: string | null = null): ProposalItem => ({
  type: "proposal",
  key: proposal.id,
  proposal,
  decidedBy,
  reason: null,
})

/** What had expired is proposed once more, by a run of its own. */
export const supersede = (transcript: Transcript, id: ProposalId): Transcript =>
  changeProposal(transcript, id, { status: "superseded" })

/** Paused when each call of the newest reply has ended or waits for a person, and at least one waits. */
export function statusOf({ status, items }: Transcript): ConversationStatus {
  if (status !== "running" && status !== "awaiting_confirmation") return status
  let waits = false
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as Item
    if (item.type === "message" && item.message.role === "assistant") break
    if (item.type !== "call" || item.isOver) continue
    if (waitsForFirst(item, items)) continue
    if (item.state !== "proposed" && item.state !== "in_doubt") return "running"
    waits = true
  }
  return waits ? "awaiting_confirmation" : "running"
}

function waitsForFirst({ state, duplicateOf }: CallItem, items: readonly Item[]): boolean {
  return state === "asked" && items.some((item) => item.type === "call" && item.key === duplicateOf && !item.isOver)
}

function propose(transcript: Transcript, proposal: Proposal, approvedBy?: string): Transcript {
  const state = approvedBy === undefined ? "proposed" : "approved"
  const called = changeCall(transcript, proposal.callId, { state, input: proposal.arguments })
  const item = proposalItem(proposal, approvedBy)
  // A snapshot's proposals may be newer than its position; then this one is here already, before its call.
  const others = called.items.filter((other) => !isProposal(other, proposal.id))
  return { ...called, items: [...others, item] }
}

/** The call of a reply that is not in the list, because the list begins after it, gets its line where it is first heard of. */
function withCall(transcript: Transcript, call: z.infer<typeof CallView>): Transcript {
  if (transcript.items.findLastIndex((item) => isCall(item, call.id)) !== -1) return transcript
  return { ...transcript, items: [...transcript.items, callItem(call)] }
}

/** What becomes of the proposal of a call, if it has one that is open. */
function settle(
  transcript: Transcript,
  callId: CallId,
  { status, code }: { status: ProposalStatus; code?: string | undefined },
): Transcript {
  const open = transcript.items.findLast(
    (item) => item.type === "proposal" && item.proposal.callId === callId && !isSettled(item.proposal.status),
  ) as ProposalItem | undefined
  if (!open) return transcript
  return changeProposal(transcript, open.proposal.id, { status, ...(code === undefined ? {} : { code }) })
}

const isCall = (item: Item, id: CallId): item is CallItem => item.type === "call" && item.key === id
const isProposal = (item: Item, id: ProposalId): item is ProposalItem => item.type === "proposal" && item.key === id

export function changeCall(transcript: Transcript, id: CallId, change: Partial<CallItem>): Transcript {
  const index = transcript.items.findLastIndex((item) => isCall(item, id))
  const found = transcript.items[index] as CallItem | undefined
  return found ? replace(transcript, index, { ...found, ...change }) : transcript
}

function changeProposal(
  transcript: Transcript,
  id: ProposalId,
  change: Partial<Proposal>,
  decided: Partial<ProposalItem> = {},
): Transcript {
  const index = transcript.items.findLastIndex((item) => isProposal(item, id))
  const found = transcript.items[index] as ProposalItem | undefined
  if (!found) return transcript
  return replace(transcript, index, { ...found, ...decided, proposal: { ...found.proposal, ...change } })
}

const replace = (transcript: Transcript, index: number, item: Item): Transcript => ({
  ...transcript,
  items: transcript.items.with(index, item),
})
