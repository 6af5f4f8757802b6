import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { TypedDecision } from "./decision.ts"
import type { WaitingCard } from "./waiting-card.ts"

interface Seen {
  /** What waits is another one than what waited when the answer was begun. */
  readonly isUnderOthers: boolean
  readonly talk: {
    readonly card: Pick<WaitingCard, "isRead" | "isShown" | "lacksRoom">
    readonly waiting: readonly Proposal[]
  }
  /** Enter alone. */
  readonly isBare: boolean
}

const AGREES: ReadonlySet<TypedDecision["type"]> = new Set(["yes", "all", "always"])

/** Why an answer does not count yet; undefined where it does. Nobody agrees to what they cannot have seen. */
export function whyNotNow(decision: TypedDecision, { isUnderOthers, talk, isBare }: Seen): string | undefined {
  const { card, waiting } = talk
  if (isUnderOthers) return "What waits is another one now: look, then answer."
  if (decision.type === "unclear") return decision.says
  if ((AGREES.has(decision.type) || isBare) && card.lacksRoom && !card.isRead(waiting))
    return "There is no room to show it: make the window higher."
  if (AGREES.has(decision.type) && !card.isRead(waiting)) return "Read it to its end first: Space or PgDn."
  if (isBare && decision.type === "no" && !card.isShown(waiting))
    return "It was not on the screen yet: look, then answer."
  return undefined
}
