import type { CallState } from "../../core/protocol/calls/call-state.ts"
import { type CallProgress, formatProgress } from "../../core/protocol/conversation/tool-calls.ts"
import { type CallEvents, firstOfEach, followCalls } from "../../core/protocol/calls/follow-calls.ts"
import type { Frame } from "../../core/protocol/frames.ts"
import type { CallId, ProposalId } from "../../core/protocol/ids.ts"
import type { CallView } from "../../core/protocol/conversation/message.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import type { z } from "zod"
import { isCall, isProposal, ShownCalls, toShownState } from "./shown-calls.ts"
import type { CallItem, Item, ProposalItem, Transcript } from "./transcript.ts"

/** The part of the reducer for calls and proposals. It computes the same states as the server. */
export const applyCallFrames = {
  tool_start(transcript: Transcript, frame: Frame<"tool_start">) {
    const { callId, name, input } = frame.data
    // Keeps the item's input: an approved edit is what runs.
    return follow(withCall(transcript, { id: callId, name, input }), frame)
  },

  handed_over(transcript: Transcript, frame: Frame<"handed_over">) {
    const { callId, name, input, expiresAt: waitsUntil } = frame.data
    return changeCall(follow(withCall(transcript, { id: callId, name, input }), frame), callId, { waitsUntil })
  },

  tool_end(transcript: Transcript, frame: Frame<"tool_end">) {
    const { callId, name, status, text, ms, data } = frame.data
    const result = {
      state: status,
      isOver: true,
      waitsUntil: undefined,
      progress: undefined,
      text,
      ms,
      ...(data === undefined ? {} : { data }),
    }
    return changeCall(follow(withCall(transcript, { id: callId, name, input: {} }), frame), callId, result)
  },

  awaiting_confirmation: (transcript: Transcript, frame: Frame<"awaiting_confirmation">) =>
    follow(
      frame.data.proposals.reduce((before, proposal) => propose(before, proposal), transcript),
      frame,
    ),

  proposal: (transcript: Transcript, frame: Frame<"proposal">) =>
    follow(propose(transcript, frame.data.proposal), frame),

  decision(transcript: Transcript, frame: Frame<"decision">) {
    const { proposalId, decision, reason = null, arguments: edited } = frame.data
    const found = transcript.items.findLast((item) => isProposal(item, proposalId)) as ProposalItem | undefined
    if (!found) return transcript
    const decided = changeProposal(follow(transcript, frame), proposalId, {}, { reason })
    return decision === "edit" && edited ? changeCall(decided, found.proposal.callId, { input: edited }) : decided
  },

  grant_revoked: (transcript: Transcript, frame: Frame<"grant_revoked">) => follow(transcript, frame),

  in_doubt: (transcript: Transcript, frame: Frame<"in_doubt">) =>
    changeCall(follow(transcript, frame), frame.data.callId, { text: frame.data.because, progress: undefined }),

  resolution: (transcript: Transcript, frame: Frame<"resolution">) => follow(transcript, frame),

  late_result(transcript: Transcript, frame: Frame<"late_result">) {
    const { callId, status, text } = frame.data
    return changeCall(follow(transcript, frame), callId, { delayedResult: { status, text } })
  },
}

/** The event that starts a call may arrive after its progress. */
const AT_WORK: readonly CallItem["state"][] = ["asked", "approved", "running"]

/** Sets the progress of a running call; ignored after its end. */
export function setProgress(transcript: Transcript, progress: CallProgress): Transcript {
  const isAtWork = transcript.items.some((item) => isCall(item, progress.callId) && AT_WORK.includes(item.state))
  return isAtWork ? changeCall(transcript, progress.callId, { progress: formatProgress(progress) }) : transcript
}

/** Applies the changes of a frame to calls and proposals. */
function follow(transcript: Transcript, { type, data }: Frame<keyof CallEvents>): Transcript {
  return followCalls(type, data, new ShownCalls(transcript)).reduce((before, change) => {
    if (change.of === "call") return moveCall(before, change.id, change.state)
    const { id, status, code, by } = change
    const becomes = status === undefined ? {} : { status, ...(code === undefined ? {} : { code }) }
    return changeProposal(before, id, becomes, by === undefined ? {} : { decidedBy: by })
  }, transcript)
}

/** The end of a call is set from its result, in the same frame. */
function moveCall(transcript: Transcript, id: CallId, state: CallState): Transcript {
  if (state === "ended") return transcript
  const shown = toShownState(state)
  const isNews = transcript.items.some((item) => isCall(item, id) && item.state !== shown)
  return isNews ? changeCall(transcript, id, { state: shown }) : transcript
}

/** The calls of a reply. Identical ones run once. */
export function callItems(calls: readonly z.infer<typeof CallView>[]): CallItem[] {
  const firstOf = firstOfEach(calls)
  return calls.map((call) => {
    const duplicateOf = firstOf.get(call.id)
    return duplicateOf ? { ...callItem(call), duplicateOf } : callItem(call)
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
  delayedResult: null,
})

export const proposalItem = (proposal: Proposal): ProposalItem => ({
  type: "proposal",
  key: proposal.id,
  proposal,
  decidedBy: null,
  reason: null,
})

/** Marks an expired proposal that was proposed again. */
export const supersede = (transcript: Transcript, id: ProposalId): Transcript =>
  changeProposal(transcript, id, { status: "superseded" })

function propose(transcript: Transcript, proposal: Proposal): Transcript {
  const called = changeCall(transcript, proposal.callId, { input: proposal.arguments })
  // A snapshot's proposals may be newer than its position: then this proposal is already in the list, before its call.
  const others = called.items.filter((other) => !isProposal(other, proposal.id))
  return { ...called, items: [...others, proposalItem(proposal)] }
}

/** Adds a call whose reply is before the start of the list. */
function withCall(transcript: Transcript, call: z.infer<typeof CallView>): Transcript {
  if (transcript.items.findLastIndex((item) => isCall(item, call.id)) !== -1) return transcript
  return { ...transcript, items: [...transcript.items, callItem(call)] }
}

function changeCall(transcript: Transcript, id: CallId, change: Partial<CallItem>): Transcript {
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
