import type { AuditId, CallId, ProposalId, RunId } from "../protocol/ids.ts"
import type { InverseCall } from "../protocol/proposals/audit.ts"
import type { ActionClass, Diff, ProposalStatus, Proposed } from "../protocol/proposals/proposal.ts"
import type { JsonObject } from "../protocol/schema.ts"

/** A write that has been proposed and is not settled. */
export interface OpenProposal {
  readonly proposed: Proposed
  readonly runId: RunId
  readonly position: number
  readonly createdAt: number
  /** The applied write that it takes back. */
  readonly undoes: AuditId | undefined
  /** The arguments that run if it is agreed to. */
  readonly input: JsonObject
  status: ProposalStatus
  code: string | undefined
  decidedBy: string | undefined
}

/** What a person has agreed to beforehand: writes of one tool in this conversation, counted. */
export interface CountedGrant {
  readonly tool: string
  /** What was shown when it was granted. */
  readonly action: ActionClass
  readonly uses: number
  readonly left: number
  readonly grantedAt: number
  readonly by: string
}

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
