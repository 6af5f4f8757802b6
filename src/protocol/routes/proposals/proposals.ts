import { z } from "zod"
import { pageOf } from "../../answers.ts"
import { Approval } from "../../proposals/grant.ts"
import { Proposal } from "../../proposals/proposal.ts"
import { DoubtChoice, ProposalEdit, ProposalQuery, Rejection, Shortcut } from "../../requests.ts"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** Looking at proposals and deciding them: by id, never by a payload sent again. */
export const proposalRoutes = defineRoutes({
  listProposals: {
    method: "GET",
    path: "/api/agent/proposals",
    needs: "read",
    says: "Your proposals across all conversations, newest first: the inbox of what waits for you.",
    query: ProposalQuery,
    answers: { 200: pageOf(Proposal) },
  },
  readProposal: {
    method: "GET",
    path: "/api/agent/proposals/{id}",
    needs: "read",
    says: "One proposal.",
    answers: { 200: Proposal },
  },
  commitProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/commit",
    needs: "approve",
    says: "Approves what was shown, and answers when it has been carried out; `always` approves later ones of its tool too.",
    body: Approval,
    answers: { 200: Proposal },
  },
  rejectProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/reject",
    needs: "approve",
    says: "Refuses it; the model is told, with the reason.",
    body: Rejection,
    answers: { 200: Proposal },
  },
  editProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/edit",
    needs: "approve",
    says: "Replaces it with a new proposal that has other arguments and its own id.",
    body: ProposalEdit,
    answers: { 201: Proposal },
  },
  proposeAgain: {
    method: "POST",
    path: "/api/agent/proposals/{id}/again",
    needs: "approve",
    says: "Proposes once more what expired: a new proposal with its own id, and what it would change as things are now.",
    answers: { 201: Proposal },
  },
  seeProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/seen",
    needs: "approve",
    says: "You have seen that it expired: your inbox keeps it no longer. Harmless to repeat.",
    answers: { 200: Proposal },
  },
  resolveProposal: {
    method: "POST",
    path: "/api/agent/proposals/{id}/resolve",
    needs: "approve",
    says: "Says what became of a write about which its target cannot tell.",
    body: DoubtChoice,
    answers: { 200: Proposal },
  },
  decideAll: {
    method: "POST",
    path: "/api/conversations/{id}/decide",
    needs: "approve",
    says: "One answer to the proposals that were shown; all and none also set the mode.",
    body: Shortcut,
    answers: { 200: lazily(() => z.object({ proposals: z.array(Proposal) })) },
  },
})
