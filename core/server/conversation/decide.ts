import { parse } from "../../engine/definition/schema.ts"
import type { Input, AgainInput } from "../../engine/input.ts"
import { failure, codeOf, AppError } from "../../protocol/errors.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import { type ProposalId, type UserId, newId, type RunId, type CallId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { proposalOf, conversationOf } from "./find.ts"
import type { Clock } from "../../shared/time/clock.ts"
import type { Proposals, ConversationPorts } from "./ports.ts"
import { waitForEvent } from "./wait-for-event.ts"

/** Who decides, and what they came in with, where that can be revoked. */
export interface Decider {
  readonly by: UserId
  readonly credential?: string
}

export interface ApprovalBy extends Decider {
  /** Which later writes of the same tool are agreed to with it, and how many. */
  readonly grant?: Extract<Input, { type: "decide" }>["grant"]
}

/** Agrees to a proposal; resolves with what came of it. The loop alone carries it out. */
export async function approve(ports: DecidingPorts, proposal: Proposal, approval: ApprovalBy): Promise<Proposal> {
  const { id, callId, conversationId } = proposal
  const { grant, ...decider } = approval
  await refuseOffline(ports, decider.by, proposal)
  const agreed = { type: "decide", proposalId: id, decision: "commit", ...decider } as const
  const input = grant === undefined ? agreed : { ...agreed, grant }
  await decideAndWait(ports, { user: decider.by, input, conversationId, happens: (event) => settles(event, callId) })
  return carriedOut(ports, decider.by, id)
}

export interface RejectionBy extends Decider {
  readonly reason?: string | null | undefined
}

export async function reject(ports: DecidingPorts, proposal: Proposal, rejection: RejectionBy): Promise<Proposal> {
  const { id, callId, conversationId } = proposal
  const { reason, ...decider } = rejection
  const refused = { type: "decide", proposalId: id, decision: "reject", ...decider } as const
  const input = reason ? { ...refused, reason } : refused
  await decideAndWait(ports, { user: decider.by, input, conversationId, happens: (event) => settles(event, callId) })
  return proposalOf(ports, decider.by, id)
}

/** Replaces a proposal by one with other arguments, which waits for its own decision; resolves with that one. */
export async function edit(
  ports: DecidingPorts,
  proposal: Proposal,
  { edited, ...decider }: Decider & { readonly edited: JsonObject },
): Promise<Proposal> {
  await refuseOffline(ports, decider.by, proposal)
  await refuseMisfit(ports, decider.by, { proposal, edited })
  let successor: ProposalId | undefined
  let problem = "it could not be proposed again"
  const happens = (event: JournalEvent) => {
    successor ??= proposedIn(event).find(({ callId }) => callId === proposal.callId)?.id
    if (event.type === "tool_end" && event.callId === proposal.callId) problem = event.text
    return successor !== undefined || settles(event, proposal.callId)
  }
  const input = { type: "edit", proposalId: proposal.id, arguments: edited, ...decider } as const
  await decideAndWait(ports, { user: decider.by, input, conversationId: proposal.conversationId, happens })
  const made = successor && (await ports.proposals.find(decider.by, successor))
  if (!made) throw failure("bad_request", { problem })
  return made
}

export function proposedIn(event: JournalEvent) {
  if (event.type === "proposal") return [event.proposal]
  return event.type === "awaiting_confirmation" ? event.proposals : []
}

/** Arguments that the tool would not take are refused before anything is recorded. */
async function refuseMisfit(
  { agents, conversations }: DecidingPorts,
  user: UserId,
  { proposal, edited }: { readonly proposal: Proposal; readonly edited: JsonObject },
): Promise<void> {
  const conversation = await conversations.find(user, proposal.conversationId)
  const tool = agents.orEmpty(conversation?.agent ?? "").tools.find(proposal.tool)
  if (!tool) return
  const parsed = await parse(tool.input, edited)
  if ("problem" in parsed) throw failure("bad_request", { problem: `arguments: ${parsed.problem}` })
}

/** Proposes an expired write once more; resolves with the new proposal, which shows what it would change now. */
export async function proposeAgain(
  ports: DecidingPorts & { readonly clock: Clock; readonly proposals: Pick<Proposals, "find" | "undoneBy"> },
  proposal: Proposal,
  decider: Decider,
): Promise<Proposal> {
  const { runtime, proposals, clock } = ports
  const { by: user } = decider
  requireExpired(proposal)
  await requireReachable(ports, user, proposal)
  const { id, conversationId, summary, tool, arguments: given } = proposal
  const undoes = await proposals.undoneBy(proposal)
  const callId = newId("call", user, clock.now())
  const call = { callId, tool, arguments: given, ...(undoes ? { undoes } : {}) }
  const input: AgainInput = { type: "again", proposalId: id, summary, ...call, ...decider }
  const seen = watchProposal([proposal.callId, callId])
  const { position } = await conversationOf(ports, user, conversationId)
  using watching = waitForEvent(ports, { id: conversationId, position }, seen.happens)
  await runtime.submit(conversationId, input).catch(async (error: unknown) => {
    // The first caller has it proposed by now, or is about to: the second one learns that, and not what that led to.
    const code = codeOf(error)
    if (code === "busy" || code === "still_pending") requireExpired(await proposalOf(ports, user, id))
    throw error
  })
  await watching.over()
  const created = seen.proposal && (await proposals.find(user, seen.proposal))
  if (!created) throw failure("bad_request", { problem: seen.problem })
  return created
}

function requireExpired(proposal: Proposal): void {
  const { id, status } = proposal
  if (status === "expired") return
  if (status === "pending") throw conflict(failure("still_pending", { count: 1 }), proposal)
  throw conflict(failure("proposal_decided", { id, status }), proposal)
}

/** Waits until the call is proposed anew, in its own run or in one made for it, or has ended without. */
function watchProposal(calls: readonly AgainInput["callId"][]) {
  const seen = {
    proposal: undefined as ProposalId | undefined,
    problem: "it could not be proposed again",
    happens(event: JournalEvent): boolean {
      seen.proposal ??= proposedIn(event).find(({ callId }) => calls.includes(callId))?.id
      const ended = event.type === "tool_end" && calls.includes(event.callId) && event.status !== "expired"
      if (ended) seen.problem = event.text
      return seen.proposal !== undefined || ended
    },
  }
  return seen
}

export interface Resolving {
  readonly by: UserId
  readonly credential?: string
  readonly choice: "retry" | "done" | "abandon"
}

/** Settles a write in doubt as a person says, by whichever door they came; resolves with what came of it. */
export async function resolveDoubt(
  ports: DecidingPorts,
  proposal: Proposal,
  { by, credential, choice }: Resolving,
): Promise<Proposal> {
  const { id, callId, conversationId, runId } = proposal
  if (choice === "retry") {
    await refuseLateRetry(ports, by, runId)
    await refuseOffline(ports, by, proposal)
  }
  const input = { type: "resolve", proposalId: id, choice, by, ...(credential ? { credential } : {}) } as const
  await decideAndWait(ports, { user: by, input, conversationId, happens: (event) => settles(event, callId) })
  return carriedOut(ports, by, id)
}

/** A call is tried again by its own run; where that is over, only what became of it can still be said. */
async function refuseLateRetry({ conversations }: DecidingPorts, user: UserId, runId: RunId): Promise<void> {
  const run = await conversations.run(user, runId)
  if (run?.status === "paused" || run?.status === "running") return
  throw failure("bad_request", { problem: 'choice: the run of this call is over; choose "done" or "abandon".' })
}

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
  if (status === "failed" && (code === "proposal_stale" || code === "proposal_unmet"))
    throw conflict(failure(code, { id }), proposal)
  if (status === "superseded") throw conflict(failure("proposal_decided", { id, status }), proposal)
  return proposal
}

/** A conflict about a proposal carries it, so that whoever lost sees how it stands. */
export const conflict = (error: AppError, proposal: Proposal) =>
  new AppError(error.code, error.message, { ...error.details, proposal })

/** Refuses to decide to what would run on a device that is not there: the proposal stays as it is until it comes. */
export async function refuseOffline(ports: DecidingPorts, user: UserId, proposal: Proposal): Promise<void> {
  if (proposal.status === "pending" || proposal.status === "in_doubt") await requireReachable(ports, user, proposal)
}

/** The same whatever its status is: for what is about to be looked at anew. */
export async function requireReachable(
  { conversations, agents, devices }: Omit<DecidingPorts, "proposals">,
  user: UserId,
  proposal: Proposal,
): Promise<void> {
  const conversation = await conversations.find(user, proposal.conversationId)
  if (conversation?.site !== "device") return
  const offer = agents.orEmpty(conversation.agent).tools.find(proposal.tool)?.onSite
  const { id, deviceId } = conversation
  if (!offer || (await devices.isReachable({ user, conversation: id, deviceId, offer }))) return
  const device = deviceId === null ? "The device of this conversation" : `The device "${deviceId}"`
  throw conflict(failure("device_offline", { device }), proposal)
}
