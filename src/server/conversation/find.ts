import type { Context } from "hono"
import type { AuditEntry } from "../../protocol/proposals/audit.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import { type ConversationId, isId, type MessageId, type ProposalId, type UserId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { Run } from "../../protocol/conversation/run.ts"
import { userOf } from "../door/caller.ts"
import type { Env } from "../door/request-env.ts"
import type { ConversationPorts } from "./ports.ts"

/** What the address names, if it is the caller's; otherwise `not_found`, whether it exists or not (promise 13). */
export async function findConversation(
  c: Context<Env>,
  { conversations }: ConversationPorts,
): Promise<ConversationView> {
  const id = c.req.param("id") ?? ""
  return (isId("conv", id) && (await conversations.find(userOf(c), id))) || missing()
}

/** The same for whoever knows the id already. */
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

/** Names a message, which may be none of the conversation. */
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
