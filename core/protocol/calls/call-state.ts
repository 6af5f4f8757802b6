import type { PauseReason } from "../conversation/conversation.ts"
import type { ProposalStatus } from "../proposals/proposal.ts"

/**
 * The state of a call of the newest reply. `duplicate`: identical to an earlier call of its reply, whose result it
 * waits for. `edited`: a person has changed its arguments, so it must be proposed again. `handed_over`: the client
 * executes it and sends its result.
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

/** Who must act before a call can continue. `first`: the call that a duplicate repeats must end. */
export type Turn = "loop" | "person" | "client" | "first" | "nobody"

/** A switch instead of a table, because each event calls it for every call. */
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

/** Why a run with these calls waits; undefined if the loop has work, or nothing is waited for. */
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

/** The state of a call without a result, by its newest proposal, which is all that a snapshot has. */
export function stateByProposal(status: ProposalStatus): "proposed" | "approved" | "in_doubt" {
  if (status === "applying") return "approved"
  return status === "in_doubt" ? "in_doubt" : "proposed"
}
