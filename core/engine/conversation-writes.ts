import type { AuditId, RunId } from "../protocol/ids.ts"
import type { ActionClass, Diff, InverseCall, ProposalStatus, Proposed } from "../protocol/proposals/proposal.ts"
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
  /** Set when it is applied: when that was, and what the event that says so tells beside it. */
  applied: (Effect & { readonly at: number }) | undefined
}

/** What a person has agreed to beforehand: writes of one tool in this conversation, counted. */
export interface CountedGrant {
  readonly tool: string
  /** What was shown when it was granted. */
  readonly action: ActionClass
  /** Of a tool that runs commands: the one that was shown, or the prefix that was stated. */
  readonly commandLine?: string
  readonly prefix?: string
  readonly uses: number
  readonly left: number
  readonly grantedAt: number
  readonly by: string
}

/** What a write has changed, and the call that takes it back, where its tool can tell. */
export interface Effect {
  readonly change?: Diff | undefined
  readonly inverse?: InverseCall | undefined
}
