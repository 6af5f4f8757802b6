import { firstOfEach } from "../../agent/calls/duplicates.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { CallId, ProposalId } from "../../protocol/ids.ts"
import type { CallPart } from "../../protocol/conversation/message.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"

/** `work`: the loop's to do. `person`: waits for one. `first`: a duplicate, which waits for the call that it repeats. */
type Turn = "work" | "person" | "first" | "ended"

interface Pending {
  part: CallPart
  turn: Turn
  /** Agreed to by a grant and not begun: taken back with it. */
  granted: boolean
  readonly duplicateOf: CallId | undefined
}

/** The calls of a run's newest reply, by what their rows say: what they were called with, and whose turn it is. */
export class PendingCalls {
  readonly #calls = new Map<CallId, Pending>()
  readonly #proposals = new Map<ProposalId, CallId>()

  part(id: CallId): CallPart | undefined {
    return this.#calls.get(id)?.part
  }

  /** Whether nothing is left to do before a person decides; the same rule as in the loop's fold. */
  get paused(): boolean {
    let waits = false
    for (const { turn } of this.#calls.values()) {
      if (turn === "work") return false
      waits ||= turn === "person"
    }
    return waits
  }

  see(event: JournalEvent): void {
    switch (event.type) {
      case "run_started":
      case "run_ended":
        this.#calls.clear()
        this.#proposals.clear()
        return
      case "message":
        return this.#call(event.parts.filter((part) => part.type === "call"))
      case "tool_start":
        return this.#turn(event.callId, "work")
      case "tool_end":
        this.#turn(event.callId, "ended")
        // Its duplicates are answered by the next rows; in a journal from before that they are calls like others.
        for (const [id, { duplicateOf, turn }] of this.#calls)
          if (duplicateOf === event.callId && turn === "first") this.#turn(id, "work")
        return
      case "in_doubt":
        return this.#turn(event.callId, "person")
      case "awaiting_confirmation":
        for (const proposed of event.proposals) this.#propose(proposed)
        return
      case "proposal":
        this.#propose(event.proposal)
        if (event.approvedBy !== undefined) this.#turn(event.proposal.callId, "work", event.approvedBy === "grant")
        return
      case "grant_revoked":
        for (const [id, { part, granted }] of this.#calls) {
          if (granted && (event.tool === undefined || part.name === event.tool)) this.#turn(id, "person")
        }
        return
      case "decision": {
        const call = this.#proposals.get(event.proposalId)
        if (call && event.decision !== "reject") this.#turn(call, "work") // a rejected one is ended by the next row
        return
      }
      case "resolution":
        if (event.choice === "retry") this.#turn(event.callId, "work")
        return
      default:
        return
    }
  }

  #call(parts: readonly CallPart[]): void {
    const firstOf = firstOfEach(parts)
    for (const part of parts) {
      const duplicateOf = firstOf.get(part.id)
      this.#calls.set(part.id, { part, turn: duplicateOf ? "first" : "work", granted: false, duplicateOf })
    }
  }

  #propose({ id, callId, arguments: edited }: Proposed): void {
    this.#proposals.set(id, callId)
    this.#turn(callId, "person")
    const call = this.#calls.get(callId)
    // What a person has changed is what runs, and what the call is shown with from here on.
    if (call && edited) call.part = { ...call.part, input: edited }
  }

  #turn(id: CallId, turn: Turn, granted = false): void {
    const call = this.#calls.get(id)
    if (call) Object.assign(call, { turn, granted })
  }
}
