import { useState } from "react"
import { ClientError } from "../../../client/index.ts"
import type { Proposal } from "../../../core/protocol/index.ts"
import { explain } from "../components/explain.ts"
import { noticeSignOut } from "../state/identity.ts"
import { toast } from "../state/toasts.ts"
import { recordVerdict } from "./expiry.ts"
import { type Key, t } from "../strings/strings.ts"

const OUTCOMES: Partial<Record<Proposal["status"], Key>> = {
  applied: "proposal.alreadyApproved",
  applying: "proposal.alreadyApproved",
  rejected: "proposal.alreadyRejected",
  superseded: "proposal.alreadyReplaced",
  expired: "proposal.alreadyExpired",
}

/**
 * Sends a decision; if another client was first, reports the outcome. The cards follow the conversation: `about` is
 * disabled until its state changes. `send` shows other errors as a toast. `submit`, for a form, throws them so that the
 * form shows them; it calls `onDone` only after the server has accepted the decision, so that the input stays until
 * then.
 */
export function useDecide(about: Proposal | string) {
  const [sent, setSent] = useState<Proposal | string>()
  const submit = async (work: () => Promise<unknown>, onDone?: () => void) => {
    setSent(about)
    try {
      await work()
      onDone?.()
    } catch (error) {
      noticeSignOut(error)
      setSent(undefined)
      if (!reportOutcome(error)) throw error
    }
  }
  const send = (work: () => Promise<unknown>) => {
    void submit(work).catch((error: unknown) => toast(explain(error), "bad"))
  }
  return { isSent: sent === about, send, submit }
}

/** Reports the outcome of a proposal that is no longer open. False if the error is about something else. */
function reportOutcome(error: unknown): boolean {
  const proposal = error instanceof ClientError ? (error.details.proposal as Proposal | undefined) : undefined
  const stale = proposal?.code === "proposal_stale" || (error instanceof ClientError && error.code === "proposal_stale")
  const outcome = proposal && OUTCOMES[proposal.status]
  const isOpen = proposal?.status === "pending" && error instanceof ClientError && error.code === "still_pending"
  if (proposal?.status === "expired") recordVerdict(proposal.id, "expired")
  if (isOpen) recordVerdict(proposal.id, "open")
  if (isOpen) toast(t("proposal.stillOpen"))
  else if (stale) toast(t("proposal.stale"), "bad")
  else if (outcome) toast(t(outcome))
  else return false
  return true
}
