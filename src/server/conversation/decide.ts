import type { Input } from "../../agent/input.ts"
import { AppError, codeOf, failure } from "../../protocol/errors.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { CallId, ProposalId, UserId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { conversationOf, proposalOf } from "./find.ts"
import type { ConversationPorts } from "./ports.ts"
import { waitForEvent } from "./wait-for-event.ts"

/** What deciding takes of a server: no more, so that a program that embeds Pawl decides in the same way. */
export type DecidingPorts = Pick<
  ConversationPorts,
  "runtime" | "bus" | "journal" | "agents" | "proposals" | "conversations" | "devices"
>

export interface DecisionRequest {
  readonly user: UserId
  readonly input: Extract<Input, { proposalId: ProposalId }>
  readonly conversationId: Proposal["conversationId"]
  happens(event: JournalEvent): boolean
}

/** Records a decision and waits for what comes of it. Whoever comes too late learns how it stands. */
export async function decideAndWait(
  ports: DecidingPorts,
  { user, input, conversationId, happens }: DecisionRequest,
): Promise<void> {
  const conversation = await conversationOf(ports, user, conversationId)
  using watching = waitForEvent(ports, conversation, happens)
  await recordDecision(ports, { user, input, conversationId })
  await watching.over()
}

/** The same for whoever watches already. */
export async function recordDecision(
  ports: DecidingPorts,
  { user, input, conversationId }: Omit<DecisionRequest, "happens">,
): Promise<void> {
  try {
    await ports.runtime.submit(conversationId, input)
  } catch (error) {
    const code = codeOf(error)
    if (code !== "proposal_decided" && code !== "proposal_expired" && code !== "not_in_doubt") throw error
    const proposal = await proposalOf(ports, user, input.proposalId)
    const { id, status, expiresAt } = proposal
    if (code === "not_in_doubt") throw conflict(failure(code, { id, status }), proposal)
    if (status === "expired") throw conflict(failure("proposal_expired", { id, at: expiresAt }), proposal)
    throw conflict(failure("proposal_decided", { id, status }), proposal)
  }
}

/** Whether a row says what somebody has decided about a proposal, or what came of it. */
export function concerns(event: JournalEvent, { id, callId }: Pick<Proposal, "id" | "callId">): boolean {
  if (event.type === "decision") return event.proposalId === id
  return (event.type === "tool_end" || event.type === "resolution") && event.callId === callId
}

/** The call has its result, or it is certain that nobody knows it. */
export function settles(event: JournalEvent, callId: CallId): boolean {
  return (event.type === "tool_end" || event.type === "in_doubt") && event.callId === callId
}

/** A committed proposal as it came out; 409 where nothing was applied because the world had moved on. */
export async function carriedOut(ports: DecidingPorts, user: UserId, decided: ProposalId): Promise<Proposal> {
  const proposal = await proposalOf(ports, user, decided)
  const { id, status, code } = proposal
  if (status === "failed" && code === "proposal_stale") throw conflict(failure(code, { id }), proposal)
  if (status === "superseded") throw conflict(failure("proposal_decided", { id, status }), proposal)
  return proposal
}

/** A conflict about a proposal carries it, so that whoever lost sees how it stands. */
export const conflict = (error: AppError, proposal: Proposal) =>
  new AppError(error.code, error.message, { ...error.details, proposal })
