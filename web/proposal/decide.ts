import { useState } from "react"
import { ClientError } from "../../src/client/index.ts"
import type { Proposal } from "../../src/protocol/index.ts"
import { explain } from "../parts/explain.ts"
import { noticeSignOut } from "../state/identity.ts"
import { toast } from "../state/toasts.ts"
import { tell } from "./expired.ts"

const OUTCOMES: Partial<Record<Proposal["status"], string>> = {
  applied: "Somebody has approved this already.",
  applying: "Somebody has approved this already.",
  rejected: "Somebody has rejected this already.",
  superseded: "This was not done: something else was said or proposed instead.",
  expired: "This has expired, and nothing was done. You can have it proposed again.",
}

/**
 * Decides, and where somebody else was first says how that came out. The cards themselves follow the conversation: until
 * that has something newer to say of what is decided `about`, there is nothing more to be decided. `onDone` only where it
 * was accepted: what somebody has written for it stays until then.
 */
export function useDecide(about: Proposal | string) {
  const [sent, setSent] = useState<Proposal | string>()
  const send = (work: () => Promise<unknown>, onDone?: () => void) => {
    setSent(about)
    void decide(work).then((isDone) => (isDone ? onDone?.() : setSent(undefined)))
  }
  return [sent === about, send] as const
}

/** False where it was not accepted, which has been told. */
async function decide(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    noticeSignOut(error)
    const proposal = error instanceof ClientError ? (error.details.proposal as Proposal | undefined) : undefined
    const stale =
      proposal?.code === "proposal_stale" || (error instanceof ClientError && error.code === "proposal_stale")
    const outcome = proposal && OUTCOMES[proposal.status]
    const isOpen = proposal?.status === "pending" && error instanceof ClientError && error.code === "still_pending"
    if (proposal?.status === "expired") tell(proposal.id, "expired")
    if (isOpen) tell(proposal.id, "open")
    if (isOpen) toast("It has not expired: the clock of this machine is ahead. Decide it now.")
    else if (stale) toast("Nothing was done: what it would change has changed meanwhile. Ask for it again.", "bad")
    else toast(outcome ?? explain(error), outcome ? "plain" : "bad")
    return false
  }
}
