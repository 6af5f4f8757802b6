import { type CallChange, type CallEvents, followCalls, type Followed } from "../../protocol/calls/follow-calls.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { CallId, ProposalId } from "../../protocol/ids.ts"
import { isSettled } from "../../protocol/proposals/proposal.ts"
import type { Call, Conversation } from "../conversation.ts"
import type { Effect, OpenProposal } from "../conversation-writes.ts"

type CallEvent = EventOf<keyof CallEvents>

/** Applies an event to the state's calls and proposals, and returns what changed. */
export function followEvent(conversation: Conversation, event: CallEvent): readonly CallChange[] {
  const changes = followCalls(event.type, event, followedIn(conversation))
  for (const change of changes) {
    if (change.of === "call") callOf(conversation, change.id).state = change.state
    else changeProposal(conversation, change, event)
  }
  return changes
}

/** The calls and proposals of a conversation's state. */
class FoldedCalls implements Followed {
  readonly #conversation: Conversation

  constructor(conversation: Conversation) {
    this.#conversation = conversation
  }

  calls(): readonly Call[] {
    return this.#conversation.calls
  }

  proposal(id: ProposalId): OpenProposal | undefined {
    return this.#conversation.proposals.get(id)
  }

  openProposal(callId: CallId): OpenProposal | undefined {
    const { calls, proposals } = this.#conversation
    const call = calls.find(({ id }) => id === callId)
    const id = call ? call.proposal : proposalOfEarlierCall(proposals, callId)
    const entry = id && proposals.get(id)
    return entry && !isSettled(entry.status) ? entry : undefined
  }
}

export const followedIn = (conversation: Conversation): Followed => new FoldedCalls(conversation)

/** Only if the call's run is over: during a replay there may be many. */
function proposalOfEarlierCall(proposals: Conversation["proposals"], callId: CallId): ProposalId | undefined {
  for (const [id, { proposed, status }] of proposals) if (proposed.callId === callId && !isSettled(status)) return id
  return undefined
}

/** A settled proposal leaves the state with the commit that settles it. Its row and its event stay. */
function changeProposal(
  conversation: Conversation,
  { id, status, code, by }: Extract<CallChange, { of: "proposal" }>,
  event: CallEvent,
): void {
  const entry = conversation.proposals.get(id)
  if (!entry) return
  if (by !== undefined) entry.decidedBy = by ?? undefined
  if (status === undefined) return
  if (status === "applied") {
    const { change, inverse }: Effect = event.type === "tool_end" || event.type === "late_result" ? event : {}
    entry.applied = { at: event.at, change, inverse }
    if (entry.undoes) conversation.undone = new Map(conversation.undone).set(entry.undoes, id)
  }
  entry.status = status
  entry.code = code
}

export function callOf(conversation: Conversation, id: CallId): Call {
  const call = conversation.calls.find((candidate) => candidate.id === id)
  if (!call) throw new Error(`${conversation.id}: the journal names ${id}, which no open reply holds`)
  return call
}
