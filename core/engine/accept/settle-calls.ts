import type { NewEvent } from "../../protocol/events.ts"
import type { CallId } from "../../protocol/ids.ts"
import { clientEnd, isLate, waitingCall } from "../calls/client-tools.ts"
import { type Call, type Conversation, openCalls } from "../conversation.ts"
import type { ClientResultsInput, Input } from "../input.ts"
import { toolEnd } from "../calls/tool-end.ts"

export const SAY = {
  superseded: "Not done: the person sent a new message instead of deciding.",
  cancelled: "Not done: the person cancelled the run.",
  timed_out: "Not done: the run ended before this started.",
  expired: "Not done: it expired without a decision. Propose it again if it is still needed.",
  unanswered: "The person's program did not bring a result in time. Whether it has done it is not known.",
  left: "The client did not send a result before the run continued. It is unknown whether this was done.",
  interrupted: "Interrupted before it ended. Its answer is unknown.",
  in_doubt: "It was interrupted, and it is unknown whether it was done. Do not repeat it unless the person asks.",
} as const

/** One result for each open call, so that a run can end here: nothing that was recorded is touched. */
export function settleOpenCalls(
  conversation: Conversation,
  status: "superseded" | "cancelled" | "timed_out",
  now: number,
): NewEvent[] {
  return openCalls(conversation).map((call) => {
    // Begun at least once, also where a second try was agreed to and not begun: whether it was done is not known.
    const doubtful = call.state === "in_doubt" || (call.proposal !== undefined && call.attempts > 0)
    if (doubtful) return toolEnd(conversation, call, { status: "in_doubt", text: SAY.in_doubt, now })
    if (call.state === "handed_over")
      return toolEnd(
        conversation,
        call,
        isLate(call, now)
          ? { status: "expired", text: SAY.unanswered, now }
          : { status: "interrupted", text: SAY.left, now },
      )
    // A read that was begun and never heard of again is merely a missing answer.
    if (call.state === "started")
      return toolEnd(conversation, call, { status: "interrupted", text: SAY.interrupted, now })
    const late = status === "superseded" && isExpired(conversation, call, now)
    return toolEnd(
      conversation,
      call,
      late ? { status: "expired", text: SAY.expired, now } : { status, text: SAY[status], now },
    )
  })
}

export function expiredCalls(conversation: Conversation, now: number): Call[] {
  return openCalls(conversation).filter((call) => isExpired(conversation, call, now))
}

function isExpired(conversation: Conversation, call: Call, now: number): boolean {
  if (call.state === "handed_over") return isLate(call, now)
  const proposal = call.proposal ? conversation.proposals.get(call.proposal) : undefined
  return call.state === "proposed" && proposal !== undefined && proposal.proposed.expiresAt <= now
}

/** Calls whose results become nothing: while these waited in the inbox others came first, or a stop, or their time was up. */
export function overtakenResults(conversation: Conversation, input: Input, now: number): CallId[] {
  if (input.type !== "client_results") return []
  return input.results.flatMap((result) => (waitingCall(conversation, result, now) ? [] : [result.callId]))
}

/** What comes for a call that is not waited for any more becomes nothing: the first result counts. */
export function acceptResults(
  conversation: Conversation,
  { results, by }: ClientResultsInput,
  now: number,
): NewEvent[] {
  const first = results.filter(({ callId }, at) => results.findIndex((other) => other.callId === callId) === at)
  return first.flatMap((result) => {
    const call = waitingCall(conversation, result, now)
    return call ? [clientEnd(conversation, call, { result, by, now })] : []
  })
}
