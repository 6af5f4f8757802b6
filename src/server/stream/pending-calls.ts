import { type CallState, pauseReasonOf } from "../../protocol/calls/call-state.ts"
import { firstOfEach } from "../../protocol/calls/duplicates.ts"
import {
  type CallChange,
  followCalls,
  type Followed,
  type FollowedCall,
  type FollowedProposal,
  isAboutCalls,
} from "../../protocol/calls/follow-calls.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { CallId, ProposalId } from "../../protocol/ids.ts"
import type { CallPart } from "../../protocol/conversation/message.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { isSettled } from "../../protocol/proposals/status-after-call.ts"

interface Pending extends FollowedCall {
  part: CallPart
  state: CallState
  /** The newest proposal of it. */
  proposal: ProposalId | undefined
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** The calls of a run's newest reply, by what their rows say: what they were called with, and how far they are. */
export class PendingCalls implements Followed {
  readonly #calls = new Map<CallId, Pending>()
  readonly #proposals = new Map<ProposalId, Mutable<FollowedProposal>>()

  part(id: CallId): CallPart | undefined {
    return this.#calls.get(id)?.part
  }

  /** Whether nothing is left to do before a person decides. */
  get paused(): boolean {
    return pauseReasonOf(this.#calls.values()) !== undefined
  }

  calls(): Iterable<FollowedCall> {
    return this.#calls.values()
  }

  proposal(id: ProposalId): FollowedProposal | undefined {
    return this.#proposals.get(id)
  }

  openProposal(callId: CallId): FollowedProposal | undefined {
    const id = this.#calls.get(callId)?.proposal
    const proposal = id && this.#proposals.get(id)
    return proposal && !isSettled(proposal.status) ? proposal : undefined
  }

  see(event: JournalEvent): void {
    if (event.type === "run_started" || event.type === "run_ended") return this.#clear()
    if (event.type === "message") return this.#call(event.parts.filter((part) => part.type === "call"))
    if (!isAboutCalls(event)) return
    if (event.type === "awaiting_confirmation") for (const proposed of event.proposals) this.#propose(proposed)
    if (event.type === "proposal") this.#propose(event.proposal)
    for (const change of followCalls(event.type, event, this)) this.#change(change)
  }

  #clear(): void {
    this.#calls.clear()
    this.#proposals.clear()
  }

  #call(parts: readonly CallPart[]): void {
    const firstOf = firstOfEach(parts)
    for (const part of parts) {
      const { id, name } = part
      const duplicateOf = firstOf.get(id)
      const state = duplicateOf ? "duplicate" : "new"
      this.#calls.set(id, { id, name, part, state, duplicateOf, proposal: undefined })
    }
  }

  #propose(proposed: Proposed): void {
    this.#proposals.set(proposed.id, { proposed, status: "pending", decidedBy: undefined })
    const call = this.#calls.get(proposed.callId)
    if (!call) return
    call.proposal = proposed.id
    // What a person has changed is what runs, and what the call is shown with from here on.
    if (proposed.arguments) call.part = { ...call.part, input: proposed.arguments }
  }

  #change(change: CallChange): void {
    if (change.of === "call") {
      const call = this.#calls.get(change.id)
      if (call) call.state = change.state
      return
    }
    const proposal = this.#proposals.get(change.id)
    if (!proposal) return
    if (change.status !== undefined) proposal.status = change.status
    if (change.by !== undefined) proposal.decidedBy = change.by
  }
}
