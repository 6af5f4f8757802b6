import type { InverseCall } from "../../protocol/proposals/audit.ts"
import type { AuditId, CallId, ProposalId, RunId } from "../../protocol/ids.ts"
import type { ActionClass, Diff } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { OpenProposal } from "../conversation.ts"

/** A write that was applied, as the journal tells it: what the audit keeps. */
export interface AppliedWrite {
  readonly id: AuditId
  readonly runId: RunId
  readonly callId: CallId
  readonly proposalId: ProposalId
  readonly tool: string
  readonly action: ActionClass
  readonly summary: string
  readonly input: JsonObject
  readonly before: unknown
  readonly after: unknown
  readonly decidedBy: string
  readonly at: number
  readonly inverse: InverseCall | undefined
  readonly undoes: AuditId | undefined
}

/** What the event that says it was applied tells beside that. */
export interface Effect {
  readonly change?: Diff | undefined
  readonly inverse?: InverseCall | undefined
}

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
