import type { PauseReason } from "../conversation/conversation.ts"
import type { ProposalStatus } from "../proposals/proposal.ts"

/**
 * How far a call of the newest reply is. `duplicate`: the same as a call before it in its reply, whose result it waits
 * for. `edited`: a person has changed its arguments, and it has to be proposed anew. `handed_over`: the program that the
 * person uses runs it, and brings its result.
 */
export type CallState =
  | "new"
  | "duplicate"
  | "proposed"
  | "edited"
  | "approved"
  | "started"
  | "handed_over"
  | "in_doubt"
  | "ended"

/** Who has to do something before a call can go on. `first`: the call that a duplicate repeats has to end. */
export type Turn = "loop" | "person" | "client" | "first" | "nobody"

/** A switch and no table: the fold asks it for every call with every row. */
export function turnOf(state: CallState): Turn {
  switch (state) {
    case "ended":
      return "nobody"
    case "proposed":
    case "in_doubt":
      return "person"
    case "handed_over":
      return "client"
    case "duplicate":
      return "first"
    case "new":
    case "edited":
    case "approved":
    case "started":
      return "loop"
  }
}

/** Why a run with these calls waits; undefined while the loop has something to do, or nobody is waited for. */
export function pauseReasonOf(calls: Iterable<{ readonly state: CallState }>): PauseReason | undefined {
  let reason: PauseReason | undefined
  for (const { state } of calls) {
    const turn = turnOf(state)
    if (turn === "loop") return undefined
    if (state === "in_doubt") reason = "in_doubt"
    else if (turn === "person") reason = reason === "in_doubt" ? reason : "awaiting_confirmation"
    else if (turn === "client") reason ??= "awaiting_client"
  }
  return reason
}

/** How far a call without a result is, by its newest proposal: all that a snapshot tells of it. */
export function stateByProposal(status: ProposalStatus): "proposed" | "approved" | "in_doubt" {
  if (status === "applying") return "approved"
  return status === "in_doubt" ? "in_doubt" : "proposed"
}
