import type { Icon } from "../icons/draw-icon.tsx"
import { Replace } from "../icons/arrows.ts"
import { Ban, Check, CircleAlert, Clock, LoaderCircle, X } from "../icons/signs.ts"
import { capitalized, type ProposalItem, proposalWords } from "../../src/client/index.ts"
import type { Proposal } from "../../src/protocol/index.ts"

interface Look {
  readonly icon: Icon
  readonly tone: string
}

const WAITS: Look = { icon: Clock, tone: "text-warn" }

const LOOKS: Record<Proposal["status"], Look> = {
  applying: { icon: LoaderCircle, tone: "text-accent" },
  applied: { icon: Check, tone: "text-good" },
  failed: { icon: CircleAlert, tone: "text-danger" },
  rejected: { icon: X, tone: "text-soft" },
  expired: { icon: Clock, tone: "text-soft" },
  superseded: { icon: Replace, tone: "text-soft" },
  abandoned: { icon: Ban, tone: "text-soft" },
  in_doubt: WAITS,
  pending: WAITS,
}

/** How it came out, in a word or two. */
export function outcomeOf(item: ProposalItem): Look & { readonly says: string } {
  const { status, code } = item.proposal
  const { icon, tone } = LOOKS[status]
  return { icon, tone: code === "proposal_stale" ? "text-warn" : tone, says: capitalized(proposalWords(item)) }
}
