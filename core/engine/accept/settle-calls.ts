import type { NewEvent } from "../../protocol/events.ts"
import type { CallId } from "../../protocol/ids.ts"
import { clientEnd, isPastDeadline, waitingCall } from "../calls/client-tools.ts"
import { type Call, type Conversation, openCalls } from "../conversation.ts"
import type { ClientResultsInput, Input } from "../input.ts"
import { toolEnd } from "../calls/tool-end.ts"

export const SETTLED_TEXT = {
  superseded: "Not done: the person sent a new message instead of deciding.",
  cancelled: "Not done: the person cancelled the run.",
  timed_out: "Not done: the run ended before this started.",
  expired: "Not done: it expired without a decision. Propose it again if it is still needed.",
  unanswered: "The person's program did not bring a result in time. Whether it has done it is not known.",
  left: "The client did not send a result before the run continued. It is unknown whether this was done.",
  interrupted: "Interrupted before it ended. Its answer is unknown.",
  in_doubt: "It was interrupted, and it is unknown whether it was done. Do not repeat it unless the person asks.",
} as const

/** Gives each open call a result, so that a run can end. Recorded results are not changed. */
export function settleOpenCalls(
  conversation: Conversation,
  status: "superseded" | "cancelled" | "timed_out",
  now: number,
): NewEvent[] {
  return openCalls(conversation).map((call) => {
    // Started at least once, also if a second attempt was approved and not started: whether it was applied is unknown.
    const doubtful = call.state === "in_doubt" || (call.proposal !== undefined && call.attempts > 0)
    if (doubtful) return toolEnd(conversation, call, { status: "in_doubt", text: SETTLED_TEXT.in_doubt, now })
    if (call.state === "handed_over")
      return toolEnd(
        conversation,
        call,
        isPastDeadline(call, now)
          ? { status: "expired", text: SETTLED_TEXT.unanswered, now }
          : { status: "interrupted", text: SETTLED_TEXT.left, now },
      )
    // An interrupted read changes nothing, so it only lacks a result.
    if (call.state === "started")
      return toolEnd(conversation, call, { status: "interrupted", text: SETTLED_TEXT.interrupted, now })
    const late = status === "superseded" && isExpired(conversation, call, now)
    return toolEnd(
      conversation,
      call,
      late ? { status: "expired", text: SETTLED_TEXT.expired, now } : { status, text: SETTLED_TEXT[status], now },
    )
  })
}

export function expiredCalls(conversation: Conversation, now: number): Call[] {
  return openCalls(conversation).filter((call) => isExpired(conversation, call, now))
}

function isExpired(conversation: Conversation, call: Call, now: number): boolean {
  if (call.state === "handed_over") return isPastDeadline(call, now)
  const proposal = call.proposal ? conversation.proposals.get(call.proposal) : undefined
  return call.state === "proposed" && proposal !== undefined && proposal.proposed.expiresAt <= now
}

/** Calls whose results are dropped, because another result, a cancel or the timeout came first. */
export function overtakenResults(conversation: Conversation, input: Input, now: number): CallId[] {
  if (input.type !== "client_results") return []
  return input.results.flatMap((result) => (waitingCall(conversation, result, now) ? [] : [result.callId]))
}

/** Results for calls that do not wait any more are dropped: the first result counts. */
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
