import type { ShownCallState, ProposalItem } from "./transcript.ts"

/** How far calls and proposals are and how they ended, in a word or two: the same in the page and in the terminal. */

export const callWords: Readonly<Record<ShownCallState, string>> = {
  asked: "next",
  proposed: "waits for you",
  approved: "approved",
  running: "at work",
  handed_over: "waits for its program",
  ended: "done",
  ok: "done",
  error: "failed",
  denied: "not allowed",
  rejected: "rejected, not done",
  expired: "expired, not done",
  superseded: "not done",
  timed_out: "took too long",
  cancelled: "stopped",
  interrupted: "interrupted",
  in_doubt: "in doubt",
}

/** What became of a proposal. */
export function proposalWords({ proposal: { status, code }, decidedBy }: ProposalItem): string {
  switch (status) {
    case "pending":
    case "in_doubt":
      return "waits for you"
    case "applying":
      return "being done"
    case "applied":
      return appliedBy(decidedBy)
    case "failed":
      return code === "proposal_stale" ? "not done: it had changed meanwhile" : "failed"
    case "rejected":
      return "rejected"
    case "expired":
      return "expired"
    // Edited, proposed anew, or overtaken by words or by a stop: a proposal that was read later does not say which.
    case "superseded":
      return "not done"
    case "abandoned":
      return "given up"
  }
}

function appliedBy(by: string | null): string {
  if (by === "policy") return "done automatically"
  if (by === "device") return "done, approved by the device"
  return by === "grant" ? "done, as you allowed" : "done"
}
