import { z } from "zod"
import { pageOf } from "../answers.ts"
import { Approval, AuditEntry, GrantList, Proposal } from "../proposals/proposal.ts"
import { DoubtChoice, PageQuery, ProposalEdit, ProposalQuery, Rejection, Shortcut } from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** History, and undo. */
export const auditRoutes = defineRoutes({
  listAudit: {
    method: "GET",
    path: "/api/agent/audit",
    needs: "read",
    says: "Lists every write that was applied for you, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(AuditEntry) },
  },
  readAudit: {
    method: "GET",
    path: "/api/agent/audit/{id}",
    needs: "read",
    says: "Returns one applied write: the values before and after, who approved it, and whether it can be undone.",
    answers: { 200: AuditEntry },
  },
  undoWrite: {
    method: "POST",
    path: "/api/agent/audit/{id}/undo",
    needs: "chat",
    says: "Proposes to undo a write, in the same conversation. The undo needs approval like any other write.",
    answers: { 201: Proposal },
  },
})

/** Approvals in advance, and their revocation. */
export const grantRoutes = defineRoutes({
  listGrants: {
    method: "GET",
    path: "/api/conversations/{id}/grants",
    needs: "read",
    says: "Lists the tools that can write in this conversation without asking, and how often.",
    answers: { 200: GrantList },
  },
  revokeGrants: {
    method: "DELETE",
    path: "/api/conversations/{id}/grants",
    needs: "chat",
    says: "Revokes all grants of a conversation, also for writes that have not started.",
    answers: { 204: null },
  },
  revokeGrant: {
    method: "DELETE",
    path: "/api/conversations/{id}/grants/{tool}",
    needs: "chat",
    says: "Revokes the grant for one tool.",
    answers: { 204: null },
  },
})

/** Looking at proposals and deciding them: by id, never by a payload sent again. */
export const proposalRoutes = defineRoutes({
  listProposals: {
    method: "GET",
    path: "/api/agent/proposals",
    needs: "read",
    says: "Lists your proposals in all conversations, newest first.",
    query: ProposalQuery,
    answers: { 200: pageOf(Proposal) },
  },
  readProposal: {
    method: "GET",
    path: "/api/agent/proposals/{id}",
    needs: "read",
    says: "Returns one proposal.",
    answers: { 200: Proposal },
  },
  commitProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/commit",
    needs: "approve",
    says: "Approves a proposal, and responds when its write has ended; `always` also approves later calls of its tool.",
    body: Approval,
    answers: { 200: Proposal },
  },
  rejectProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/reject",
    needs: "approve",
    says: "Rejects a proposal; the model receives the reason.",
    body: Rejection,
    answers: { 200: Proposal },
  },
  editProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/edit",
    needs: "approve",
    says: "Replaces a proposal with a new one that has other arguments and its own id.",
    body: ProposalEdit,
    answers: { 201: Proposal },
  },
  proposeAgain: {
    method: "POST",
    path: "/api/agent/proposals/{id}/again",
    needs: "approve",
    says: "Proposes an expired write again: a new proposal with its own id and a current preview.",
    answers: { 201: Proposal },
  },
  seeProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/seen",
    needs: "approve",
    says: "Dismisses an expired proposal from your inbox. Safe to repeat.",
    answers: { 200: Proposal },
  },
  resolveProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/resolve",
    needs: "approve",
    says: "Resolves a write whose outcome is unknown.",
    body: DoubtChoice,
    answers: { 200: Proposal },
  },
  decideAll: {
    method: "POST",
    path: "/api/conversations/{id}/decide",
    needs: "approve",
    says: "Decides about several proposals at once; all and none also set the mode.",
    body: Shortcut,
    answers: { 200: z.object({ proposals: z.array(Proposal) }) },
  },
})
