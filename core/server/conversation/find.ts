import type { Context } from "hono"
import type { AuditEntry, Proposal } from "../../protocol/proposals/proposal.ts"
import type { ConversationView, Run } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import { type ConversationId, isId, type MessageId, type ProposalId, type UserId } from "../../protocol/ids.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import type { ConversationPorts } from "./ports.ts"
import { conversationStatus, pauseReason, runStatus } from "../../engine/conversation.ts"
import type { Journal } from "../../engine/journal.ts"
import { replay } from "../../engine/replay/replay.ts"
import type { StateAnswer } from "../../protocol/answers.ts"

/** The conversation that the address names. Throws `not_found` if it is not the caller's, whether it exists or not. */
export async function findConversation(
  c: Context<Env>,
  { conversations }: ConversationPorts,
): Promise<ConversationView> {
  const id = c.req.param("id") ?? ""
  return (isId("conv", id) && (await conversations.find(userOf(c), id))) || missing()
}

export async function conversationOf(
  { conversations }: Pick<ConversationPorts, "conversations">,
  user: UserId,
  id: ConversationId,
): Promise<ConversationView> {
  return (await conversations.find(user, id)) ?? missing()
}

export async function proposalOf(
  { proposals }: Pick<ConversationPorts, "proposals">,
  user: UserId,
  id: ProposalId,
): Promise<Proposal> {
  return (await proposals.find(user, id)) ?? missing()
}

/** The message id of the address. The conversation may have no such message. */
export function messageOf(c: Context<Env>): MessageId {
  const message = c.req.param("messageId") ?? ""
  return isId("msg", message) ? message : missing()
}

export async function findRun(c: Context<Env>, { conversations }: ConversationPorts): Promise<Run> {
  const id = c.req.param("id") ?? ""
  return (isId("run", id) && (await conversations.run(userOf(c), id))) || missing()
}

export async function findProposal(c: Context<Env>, { proposals }: ConversationPorts): Promise<Proposal> {
  const id = c.req.param("id") ?? ""
  return (isId("prop", id) && (await proposals.find(userOf(c), id))) || missing()
}

export async function findAudit(c: Context<Env>, { audit }: ConversationPorts): Promise<AuditEntry> {
  const id = c.req.param("id") ?? ""
  return (isId("aud", id) && (await audit.find(userOf(c), id))) || missing()
}

function missing(): never {
  throw failure("not_found")
}

interface StatePosition {
  readonly id: ConversationId
  readonly user: UserId
  readonly at: number
}

/** The state of a conversation at a position, computed like the loop's state. */
export async function readState(journal: Journal, { id, user, at }: StatePosition): Promise<StateAnswer> {
  const conversation = replay(id, user, await journal.read(id, { upTo: at }))
  const { agent, model, mode, title, connectionId, position, run, proposals, stages } = conversation
  return {
    ...conversation.state,
    conversationId: id,
    position,
    agent,
    model,
    mode,
    title,
    connection: connectionId && { userId: user, connectionId },
    conversationStatus: conversationStatus(conversation),
    runId: run?.id ?? null,
    status: runStatus(conversation) ?? null,
    iteration: run?.iteration ?? 0,
    maxIterations: run?.maxIterations ?? 0,
    pauseReason: pauseReason(conversation) ?? null,
    error: run?.error ?? null,
    usage: run?.usage ?? null,
    routerDecision: stages.choice ?? conversation.routing.decision ?? null,
    guardrail: stages.guardrail ?? null,
    grading: stages.grading ?? null,
    sources: stages.found,
    toolHistory: run?.toolHistory ?? [],
    openProposals: [...proposals.keys()],
  }
}
