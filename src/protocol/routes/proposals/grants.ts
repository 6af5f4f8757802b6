import { GrantList } from "../../proposals/grant.ts"
import { defineRoutes } from "../route.ts"

/** What a person has agreed to beforehand, and taking that back. */
export const grantRoutes = defineRoutes({
  listGrants: {
    method: "GET",
    path: "/api/conversations/{id}/grants",
    needs: "read",
    says: "The tools that may write in this conversation without asking, and how often still.",
    answers: { 200: GrantList },
  },
  revokeGrants: {
    method: "DELETE",
    path: "/api/conversations/{id}/grants",
    needs: "chat",
    says: "Takes all grants of a conversation back; also from writes that have not begun.",
    answers: { 204: null },
  },
  revokeGrant: {
    method: "DELETE",
    path: "/api/conversations/{id}/grants/{tool}",
    needs: "chat",
    says: "Takes the grant for one tool back.",
    answers: { 204: null },
  },
})
