import type { AuditId, CallId } from "../../protocol/ids.ts"
import type { AppliedWrite, Effect, OpenProposal } from "../conversation-writes.ts"

export function toApplied(open: OpenProposal, { change, inverse }: Effect, at: number): AppliedWrite {
  const { id, callId, tool, action, summary, diff } = open.proposed
  const { before = null, after = null } = change ?? diff ?? {}
  return {
    id: auditIdOf(callId),
    runId: open.runId,
    callId,
    proposalId: id,
    tool,
    action,
    summary,
    input: open.input,
    before,
    after,
    decidedBy: open.decidedBy ?? "",
    at,
    inverse,
    undoes: open.undoes,
  }
}

/** A call is applied once, so its own id names the row: a second one is impossible, not merely avoided. */
const auditIdOf = (id: CallId): AuditId => id.replace(/^call_/, "aud_") as AuditId
