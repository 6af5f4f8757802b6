import type { CallStatus } from "../conversation/call-status.ts"
import type { ProposalStatus } from "./proposal.ts"

/**
 * What becomes of a proposal when its call ends. An interrupted write is still at work: `late_result` will tell, and if
 * its process dies before, a person can.
 */
export const statusAfterCall: Readonly<Record<CallStatus, ProposalStatus>> = {
  ok: "applied",
  error: "failed",
  denied: "failed",
  timed_out: "failed",
  rejected: "rejected",
  expired: "expired",
  superseded: "superseded",
  cancelled: "superseded",
  interrupted: "in_doubt",
  in_doubt: "in_doubt",
}

const SETTLED: ReadonlySet<ProposalStatus> = new Set([
  "applied",
  "failed",
  "rejected",
  "expired",
  "superseded",
  "abandoned",
])

/** Nothing will happen to it any more. */
export function isSettled(status: ProposalStatus | undefined): boolean {
  return status !== undefined && SETTLED.has(status)
}
