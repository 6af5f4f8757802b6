import { parse } from "../../agent/definition/schema.ts"
import { failure } from "../../protocol/errors.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { ProposalId, UserId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { carriedOut, decideAndWait, type DecidingPorts, settles } from "./decide.ts"
import { proposalOf } from "./find.ts"
import { refuseOffline } from "./require-device.ts"

/** Who decides, and what they came in with, where that can be revoked. */
export interface Decider {
  readonly by: UserId
  readonly credential?: string
}

export interface ApprovalBy extends Decider {
  /** How many later writes of the same tool are agreed to with it. */
  readonly uses?: number
}

/** Agrees to a proposal; resolves with what came of it. The loop alone carries it out. */
export async function approve(ports: DecidingPorts, proposal: Proposal, approval: ApprovalBy): Promise<Proposal> {
  const { id, callId, conversationId } = proposal
  const { uses, ...decider } = approval
  await refuseOffline(ports, decider.by, proposal)
  const agreed = { type: "decide", proposalId: id, decision: "commit", ...decider } as const
  const input = uses === undefined ? agreed : { ...agreed, grant: { uses } }
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
  let problem = "it could not be proposed anew"
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
