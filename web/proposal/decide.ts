import { ClientError } from "../../src/client/index.ts"
import type { Proposal } from "../../src/protocol/index.ts"
import { explain } from "../parts/explain.ts"
import { noticeSignOut } from "../state/identity.ts"
import { toast } from "../state/toasts.ts"

const OUTCOMES: Partial<Record<Proposal["status"], string>> = {
  applied: "Somebody has approved this already.",
  applying: "Somebody has approved this already.",
  rejected: "Somebody has rejected this already.",
  superseded: "This was replaced by a changed one already.",
  expired: "This has expired. Ask for it again if you still want it.",
}

/** Decides, and where somebody else was first says how that came out. The card itself follows the conversation. */
export async function decide(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    noticeSignOut(error)
    const proposal = error instanceof ClientError ? (error.details.proposal as Proposal | undefined) : undefined
    const stale =
      proposal?.code === "proposal_stale" || (error instanceof ClientError && error.code === "proposal_stale")
    if (stale) return toast("Nothing was done: what it would change has changed meanwhile. Ask for it again.", "bad")
    const outcome = proposal && OUTCOMES[proposal.status]
    toast(outcome ?? explain(error), outcome ? "plain" : "bad")
  }
}
