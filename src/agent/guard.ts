import { failure } from "../protocol/errors.ts"
import { isStorable } from "../protocol/text.ts"
import { expiredCalls } from "./accept.ts"
import { type Conversation, openCalls, pauseReason } from "./conversation.ts"
import type { Input, MessageInput } from "./input.ts"

/** Text of a person is refused where it cannot be stored: mending it would put words into their mouth. */
export function guardText({ text }: MessageInput): void {
  if (!isStorable(text)) throw failure("unstorable_text", { field: "text" })
  if (text.trim() === "") throw failure("bad_request", { problem: "A message needs some text." })
}

/** Refuses what makes no sense in the state of the conversation, before anything is stored, with an error that says why. */
export function guard(conversation: Conversation, input: Input, now: number): void {
  if (conversation.foreign) throw failure("newer_journal", { id: conversation.id })
  switch (input.type) {
    case "decide":
    case "edit": {
      const proposal = conversation.proposals.get(input.proposalId)
      if (!proposal) return // settled or unknown: the row in the store tells which
      const at = proposal.proposed.expiresAt
      if (proposal.status === "pending" && at <= now) {
        throw failure("proposal_expired", { id: input.proposalId, at: new Date(at).toISOString() })
      }
      return
    }
    case "resume": {
      if (conversation.run?.status === "running" && pauseReason(conversation)) {
        const open = openCalls(conversation).length - expiredCalls(conversation, now).length
        if (open > 0) throw failure("still_pending", { count: open })
      }
      return
    }
    case "message":
    case "resolve":
    case "cancel":
    case "settings":
    case "late_result":
      return
  }
}
