import type { Icon } from "../icons/draw-icon.tsx"
import { Replace } from "../icons/arrows.ts"
import { Ban, Check, CircleAlert, Clock, LoaderCircle, X } from "../icons/signs.ts"
import type { ProposalItem } from "../../src/client/index.ts"

interface Outcome {
  readonly icon: Icon
  readonly tone: string
  readonly says: string
}

/** How it came out, in a word or two. */
export function outcomeOf({ proposal: { status, code }, decidedBy }: ProposalItem): Outcome {
  switch (status) {
    case "applying":
      return { icon: LoaderCircle, tone: "text-accent", says: "Being done" }
    case "applied":
      return { icon: Check, tone: "text-good", says: appliedBy(decidedBy) }
    case "failed":
      return code === "proposal_stale"
        ? { icon: CircleAlert, tone: "text-warn", says: "Not done: it had changed meanwhile" }
        : { icon: CircleAlert, tone: "text-danger", says: "Failed" }
    case "rejected":
      return { icon: X, tone: "text-soft", says: "Rejected" }
    case "expired":
      return { icon: Clock, tone: "text-soft", says: "Expired" }
    case "superseded":
      return { icon: Replace, tone: "text-soft", says: "Replaced" }
    case "abandoned":
      return { icon: Ban, tone: "text-soft", says: "Given up" }
    case "in_doubt":
    case "pending":
      return { icon: Clock, tone: "text-warn", says: "Waits for you" }
  }
}

function appliedBy(by: string | null): string {
  if (by === "policy") return "Done automatically"
  if (by === "device") return "Done, approved by the device"
  return by === "grant" ? "Done, as you allowed" : "Done"
}
