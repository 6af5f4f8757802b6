import type { AuditId, RunId } from "../protocol/ids.ts"
import type { ActionClass, Diff, InverseCall, ProposalStatus, Proposed } from "../protocol/proposals/proposal.ts"
import type { JsonObject } from "../protocol/schema.ts"

/** A proposed write that is not settled. */
export interface OpenProposal {
  readonly proposed: Proposed
  readonly runId: RunId
  readonly position: number
  readonly createdAt: number
  /** The applied write that this proposal reverses. */
  readonly undoes: AuditId | undefined
  /** The arguments that are executed after approval. */
  readonly input: JsonObject
  status: ProposalStatus
  code: string | undefined
  decidedBy: string | undefined
  /** Set when the write is applied: the time, and what its event reports. */
  applied: (Effect & { readonly at: number }) | undefined
}

/** A user's approval in advance: a number of writes of one tool in this conversation. */
export interface CountedGrant {
  readonly tool: string
  /** The action that the user saw when granting it. */
  readonly action: ActionClass
  /** For a tool that runs commands: the command that was shown, or the prefix that the user chose. */
  readonly commandLine?: string
  readonly prefix?: string
  readonly uses: number
  readonly left: number
  readonly grantedAt: number
  readonly by: string
}

/** The change of a write, and the call that undoes it, if its tool can name one. */
export interface Effect {
  readonly change?: Diff | undefined
  readonly inverse?: InverseCall | undefined
}
