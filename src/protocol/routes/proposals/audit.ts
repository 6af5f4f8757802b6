import { pageOf } from "../../answers.ts"
import { AuditEntry } from "../../proposals/audit.ts"
import { Proposal } from "../../proposals/proposal.ts"
import { PageQuery } from "../../requests.ts"
import { defineRoutes } from "../route.ts"

/** What was done, and taking it back. */
export const auditRoutes = defineRoutes({
  listAudit: {
    method: "GET",
    path: "/api/agent/audit",
    needs: "read",
    says: "Every write that was applied for you, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(AuditEntry) },
  },
  readAudit: {
    method: "GET",
    path: "/api/agent/audit/{id}",
    needs: "read",
    says: "One applied write: before, after, who decided, and whether it can be undone.",
    answers: { 200: AuditEntry },
  },
  undoWrite: {
    method: "POST",
    path: "/api/agent/audit/{id}/undo",
    needs: "chat",
    says: "Proposes the call that takes it back, in the same conversation; it is confirmed like any other write.",
    answers: { 201: Proposal },
  },
})
