import type { CallId, ProposalId } from "../protocol/ids.ts"
import type { EventOf } from "../protocol/events.ts"
import type { Proposed, ProposalStatus } from "../protocol/proposals/proposal.ts"
import { toApplied } from "./calls/applied-write.ts"
import type { Effect } from "./conversation-writes.ts"
import { showHidden } from "../protocol/hidden-words.ts"
import { isSettled, statusAfterCall } from "../protocol/proposals/status-after-call.ts"
import { type Call, type Conversation, madeProgress } from "./conversation.ts"
import { duplicatesOf } from "./calls/duplicates.ts"
import { grant, revoke, useGrant } from "./gate/grants.ts"
import { rememberResult } from "./history.ts"
import { MORE_TOOLS } from "./more-tools.ts"
import { asOutside } from "./outside-words.ts"
import { applySources } from "./replay-stages.ts"
import { showNumbers, sourcesIn } from "./cite/source-numbers.ts"
import { hold } from "./gate/outside-and-private.ts"

/** The part of the fold that follows calls and proposals. Pairing (LOOP-03) is kept here, by recorded states. */
export const applyCalls = {
  tool_start(conversation: Conversation, { callId, at }: EventOf<"tool_start">) {
    const call = callOf(conversation, callId)
    call.state = "started"
    call.attempts++
    call.startedAt = at
  },

  tool_end(conversation: Conversation, event: EventOf<"tool_end">) {
    const { callId, status, text, code } = event
    const call = callOf(conversation, callId)
    if (call.state === "ended") throw new Error(`${conversation.id}: ${callId} has a result already`)
    call.state = "ended"
    // Whatever waits for this result is answered in the same commit; in a journal from before that it is a call like others.
    for (const duplicate of duplicatesOf(conversation, call)) duplicate.state = "new"
    applySources(conversation, event)
    const isOutside = event.brings === "outside" || event.brings === "both"
    // Here and not in the journal, which says what came: cleaned on its way to the model, whatever tool it came from.
    const seen = numbered(conversation, event, showHidden(text))
    const result = { callId, name: call.name, status, text: isOutside ? asOutside(callId, seen) : seen }
    rememberResult(conversation, call, result)
    hold(conversation, event)
    if (call.name === MORE_TOOLS && status === "ok") conversation.routing.wide = true
    if (event.state) conversation.state = { ...conversation.state, ...event.state }
    if (call.proposal)
      settleProposal(conversation, call.proposal, { status: statusAfterCall[status], code, effect: event })
    if (call.proposal) conversation.changed.run = true // with others still open the run is paused again
    const { run } = conversation
    if (!run) return
    madeProgress(run)
    run.toolHistory.push({ callId, name: call.name, status })
    if (call.duplicateOf && event.reusedFrom === call.duplicateOf) return // it says no more than the first
    // A write may have changed what reads would find; even a failed one may have got half-way.
    if (call.proposal && call.attempts > 0) run.reads = []
    // One that has changed the state is asked anew: what came after it may have changed it again, and the answer with it.
    else if (status === "ok" && !event.state) {
      const { data, brings } = event
      run.reads.push({ callId, name: call.name, input: call.input, text, data, brings })
    }
  },

  awaiting_confirmation(conversation: Conversation, { proposals, position, at }: EventOf<"awaiting_confirmation">) {
    for (const proposed of proposals) open(conversation, { proposed, position, at })
    conversation.changed.head = conversation.changed.run = true
  },

  proposal(conversation: Conversation, { proposal, approvedBy, position, at }: EventOf<"proposal">) {
    open(conversation, { proposed: proposal, position, at })
    if (approvedBy === undefined) return
    if (approvedBy === "grant") useGrant(conversation, proposal.tool)
    approve(conversation, proposal.id, approvedBy)
  },

  decision(conversation: Conversation, event: EventOf<"decision">) {
    const entry = conversation.proposals.get(event.proposalId)
    if (!entry) return
    conversation.changed.head = conversation.changed.run = true
    goesOnFor(conversation, event.credential)
    if (event.decision === "commit") {
      grant(conversation, event)
      return approve(conversation, event.proposalId, event.by)
    }
    entry.decidedBy = event.by
    if (event.decision === "reject") return // its tool_end stands in the same commit
    const call = callOf(conversation, entry.proposed.callId)
    call.state = "edited"
    call.input = event.arguments ?? call.input
    call.isChanged ||= event.arguments !== undefined
    call.proposal = undefined
    settleProposal(conversation, event.proposalId, { status: "superseded" })
  },

  grant_revoked: revoke,

  in_doubt(conversation: Conversation, { callId }: EventOf<"in_doubt">) {
    const call = callOf(conversation, callId)
    call.state = "in_doubt"
    if (call.proposal) settleProposal(conversation, call.proposal, { status: "in_doubt" })
    conversation.changed.head = conversation.changed.run = true
  },

  resolution(conversation: Conversation, { callId, choice, by, credential }: EventOf<"resolution">) {
    conversation.changed.head = conversation.changed.run = true
    goesOnFor(conversation, credential)
    const call = conversation.calls.find((candidate) => candidate.id === callId)
    if (choice === "retry" && call?.proposal) return approve(conversation, call.proposal, by)
    // The run may be over (it was cancelled meanwhile); then only the proposal is left to settle.
    const id = call?.proposal ?? proposalOfCall(conversation, callId)
    if (id) settleProposal(conversation, id, { status: choice === "done" ? "applied" : "abandoned" })
  },

  late_result(conversation: Conversation, event: EventOf<"late_result">) {
    const { callId, status, text } = event
    hold(conversation, event)
    if (conversation.run) conversation.run.reads = [] // a write has landed after all
    const id = proposalOfCall(conversation, callId)
    if (!id) return
    const name = conversation.proposals.get(id)?.proposed.tool ?? "a call"
    settleProposal(conversation, id, { status: status === "ok" ? "applied" : "failed", effect: event })
    conversation.notes.push(`[${name} was reported as interrupted; it has ended since: ${status}. ${showHidden(text)}]`)
  },
}

/** Only what has found something, or repeats that, speaks of sources. */
function numbered({ stages }: Conversation, { data, reusedFrom }: EventOf<"tool_end">, text: string): string {
  const sources = sourcesIn(data)
  if (stages.numbers.size === 0 || (!sources && !reusedFrom)) return text
  return showNumbers(text, stages.numbers, sources ?? [])
}

interface Opening {
  readonly proposed: Proposed
  readonly position: number
  readonly at: number
}

function open(conversation: Conversation, { proposed, position, at }: Opening): void {
  const { run } = conversation
  if (!run) throw new Error(`${conversation.id}: ${proposed.id} was proposed outside a run`)
  const call = callOf(conversation, proposed.callId)
  call.state = "proposed"
  call.proposal = proposed.id
  if (proposed.arguments) Object.assign(call, { input: proposed.arguments, isChanged: true })
  conversation.proposals.set(proposed.id, {
    proposed,
    runId: run.id,
    position,
    createdAt: at,
    input: call.input,
    undoes: run.undoes,
    status: "pending",
    code: undefined,
    decidedBy: undefined,
  })
  conversation.changed.proposals.add(proposed.id)
}

function approve(conversation: Conversation, id: ProposalId, by: string): void {
  const entry = conversation.proposals.get(id)
  if (!entry) return
  callOf(conversation, entry.proposed.callId).state = "approved"
  entry.status = "applying"
  entry.decidedBy = by
  conversation.changed.proposals.add(id)
}

interface Settling {
  readonly status: ProposalStatus
  readonly code?: string | undefined
  readonly effect?: Effect
}

/** A settled proposal leaves the fold with the commit that settles it; its row and its event stay. */
function settleProposal(conversation: Conversation, id: ProposalId, { status, code, effect = {} }: Settling): void {
  const entry = conversation.proposals.get(id)
  if (!entry) return
  // Once: a person who says `done` settles what the result beside it in the same commit has settled already.
  if (status === "applied" && entry.status !== "applied") {
    conversation.changed.applied.push(toApplied(entry, effect, conversation.at))
    if (entry.undoes) conversation.undone.set(entry.undoes, id)
  }
  entry.status = status
  entry.code = code
  conversation.changed.proposals.add(id)
}

function proposalOfCall(conversation: Conversation, callId: CallId): ProposalId | undefined {
  for (const [id, { proposed, status }] of conversation.proposals) {
    if (proposed.callId === callId && !isSettled(status)) return id
  }
  return undefined
}

function callOf(conversation: Conversation, id: CallId): Call {
  const call = conversation.calls.find((candidate) => candidate.id === id)
  if (!call) throw new Error(`${conversation.id}: the journal names ${id}, which no open reply holds`)
  return call
}

/** Whoever decides lets the run go on: it stops with what they came in with, no longer with what it was begun with. */
function goesOnFor({ run }: Conversation, credential: string | undefined): void {
  if (run && credential !== undefined) run.credential = credential
}
