import { type AppError, failure } from "../../protocol/errors.ts"
import { whyNoPrefix } from "../../protocol/proposals/proposal.ts"
import { isStorable, toStorableJson } from "../../shared/text/text.ts"
import { expiredCalls } from "./settle-calls.ts"
import { type Conversation, openCalls, pauseReason } from "../conversation.ts"
import { isPastDeadline } from "../calls/client-tools.ts"
import type { AgainInput, Beginning, ClientResultsInput, Input, UndoInput } from "../input.ts"
import { isWider } from "../gate/policy.ts"
import { isDecidedByPerson } from "../gate/taint.ts"

/** Refuses a user's text that cannot be stored. Repairing it would change what the user wrote. */
export function refuseText(words: Input | Beginning): void {
  const bad = Object.entries(words).find(([, value]) => !isStorableValue(value))
  if (bad) throw failure("unstorable_text", { field: bad[0] })
  if ("text" in words && words.text.trim() === "") {
    const files = "files" in words && words.files?.length ? " Say what is to be done with its files." : ""
    throw failure("bad_request", { problem: `A message needs some text.${files}` })
  }
}

function isStorableValue(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value)
  return typeof value !== "object" || value === null || toStorableJson(value) === JSON.stringify(value)
}

/**
 * True if a conversation that this version does not understand can still accept this input for a newer node: no event
 * of the journal may be able to forbid it. A decision is checked against its proposal's row.
 */
export function canBeLeftToNewer(input: Input): boolean {
  switch (input.type) {
    case "message":
      return input.when !== "reject"
    case "decide":
      return input.grant === undefined
    case "cancel":
    case "revoke":
    case "settings":
    case "late_result":
      return true
    case "client_results":
    case "answer":
    case "edit":
    case "resolve":
    case "compact":
    case "resume":
    case "undo":
    case "again":
      return false
  }
}

/** Throws if the input makes no sense in the conversation's state, before anything is stored. */
export function refuseInput(conversation: Conversation, input: Input, now: number): void {
  if (conversation.hasUnknownEvents) throw failure("newer_journal", { id: conversation.id })
  switch (input.type) {
    case "decide":
    case "edit": {
      if (input.type === "decide" && input.grant && isDecidedByPerson(conversation, { staysIn: "folder" }))
        throw failure("bad_request", { problem: NO_GRANT_WITH_OUTSIDE_AND_PRIVATE })
      const proposal = conversation.proposals.get(input.proposalId)
      if (!proposal) return // settled or unknown, which the proposal's row decides
      if (input.type === "decide" && input.grant && proposal.proposed.insists)
        throw failure("bad_request", { problem: INSISTS })
      if (input.type === "decide" && input.grant?.prefix !== undefined) {
        const problem = whyNoPrefix(input.grant.prefix, proposal.proposed.commandLine)
        if (problem !== undefined) throw failure("bad_request", { problem })
      }
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
    case "resolve": {
      const doubtful = conversation.proposals.get(input.proposalId)
      const open =
        doubtful && conversation.calls.some(({ id, state }) => id === doubtful.proposed.callId && state === "in_doubt")
      if (input.choice === "retry" && doubtful?.status === "in_doubt" && !open) {
        throw failure("bad_request", {
          problem: "The run of this call has ended. Mark the call as done, abandon it, or ask for it again.",
        })
      }
      return
    }
    case "answer":
      if (conversation.calls.some(({ question }) => question?.id === input.questionId)) return
      throw failure("question_settled", { id: input.questionId })
    case "client_results":
      return refuseResults(conversation, input, now)
    case "compact":
      if (conversation.history.length === 0)
        throw failure("bad_request", { problem: "There is nothing to summarize yet." })
      return
    case "undo":
      return guardUndo(conversation, input, now)
    case "again":
      return guardAgain(conversation, input, now)
    case "message":
      if (input.behind === undefined || conversation.run?.id === input.behind) return
      if (conversation.said.includes(input.id)) return // sent again because the response was lost
      throw failure("bad_request", { problem: `The conversation has newer messages.` })
    case "settings":
      if (input.mode && input.mayNotWiden && isWider(input.mode, conversation.mode))
        throw failure("forbidden", { scope: "approve" })
      return
    case "cancel":
    case "revoke":
    case "late_result":
      return
  }
}

/** The first of several results for one call counts, and none after its timeout. */
function refuseResults(conversation: Conversation, { results }: ClientResultsInput, now: number): void {
  for (const { callId } of results) {
    const call = conversation.calls.find(({ id, state }) => id === callId && state === "handed_over")
    if (!call) throw failure("call_settled", { id: callId })
    if (isPastDeadline(call, now)) throw failure("call_expired", { id: callId })
  }
}

const INSISTS = "always: the like of this is asked about each time, so it can only be decided by itself."

const NO_GRANT_WITH_OUTSIDE_AND_PRIVATE =
  "always: this conversation holds both your own data and text from outside, so each call in it is decided by itself."

/**
 * An expired proposal is proposed again if nothing else is open. Its row says whether it expired or was settled
 * otherwise.
 */
function guardAgain(conversation: Conversation, { proposalId, undoes }: AgainInput, now: number): void {
  const proposal = conversation.proposals.get(proposalId)
  const waits = proposal?.status === "pending"
  if (waits && proposal.proposed.expiresAt > now) throw failure("still_pending", { count: 1 })
  if (!waits && undoes) return guardUndo(conversation, { auditId: undoes }, now)
  if (conversation.mode === "read-only") throw failure("read_only", { id: conversation.id })
  // If its own run still waits for it, the other proposals stay open.
  if (!waits) requireRest(conversation, openProposals(conversation, now).length)
}

const openProposals = ({ proposals }: Conversation, now: number) =>
  [...proposals].filter(([, { status, proposed }]) => status !== "pending" || proposed.expiresAt > now)

/**
 * An undo requires an idle conversation without open proposals. It never waits behind changes that the user has not
 * seen.
 */
function guardUndo(conversation: Conversation, { auditId }: Pick<UndoInput, "auditId">, now: number): void {
  const open = openProposals(conversation, now)
  const undone = conversation.undone.get(auditId)
  const [by, status] = undone
    ? [undone, "applied"]
    : open.flatMap(([id, { undoes, status }]) => (undoes === auditId ? [id, status] : []))
  if (by && status) throw failure("already_undone", { id: auditId, by, status })
  if (conversation.mode === "read-only") throw failure("read_only", { id: conversation.id })
  requireRest(conversation, open.length)
}

function requireRest(conversation: Conversation, open: number): void {
  const working = conversation.run?.status === "running" && !pauseReason(conversation)
  if (working) throw failure("busy", { id: conversation.id })
  if (open > 0) throw failure("still_pending", { count: open })
}

/** Why an input about a proposal came too late. */
export function decidedBefore(input: Input, status: string): AppError {
  const id = "proposalId" in input ? input.proposalId : ""
  if (input.type === "resolve") return failure("not_in_doubt", { id, status })
  if (status === "pending") return failure("proposal_expired", { id, at: "its time" })
  return failure("proposal_decided", { id, status })
}
