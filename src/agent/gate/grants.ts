import { grantedProposals } from "../../protocol/calls/follow-calls.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { ActionClass } from "../../protocol/proposals/proposal.ts"
import { followEvent, followedIn } from "../calls/follow.ts"
import type { Conversation } from "../conversation.ts"
import type { CountedGrant } from "../conversation-writes.ts"
import { hasSeenOutsideAndPrivate } from "./outside-and-private.ts"

/** From mild to bad. A grant covers what was shown and anything milder: agreeing to a change agrees to no deletion. */
const BADNESS: readonly ActionClass[] = ["safe_create", "safe_update", "destructive_update", "destructive_delete"]

export function covers(grant: CountedGrant, action: ActionClass): boolean {
  return grant.left > 0 && BADNESS.indexOf(action) <= BADNESS.indexOf(grant.action)
}

/** The part of the fold that follows grants. They come from decisions of people only: nothing a model says makes one. */
export function grant(conversation: Conversation, { grant, proposalId, by, at }: EventOf<"decision">): void {
  const proposed = conversation.proposals.get(proposalId)?.proposed
  if (!grant || !proposed || hasSeenOutsideAndPrivate(conversation)) return // nothing is agreed to beforehand there
  const { tool, action } = proposed
  const counted = { tool, action, uses: grant.uses, left: grant.uses, grantedAt: at, by }
  conversation.grants = new Map(conversation.grants).set(tool, counted)
}

export function useGrant(granting: Pick<Conversation, "grants">, tool: string): void {
  const grant = granting.grants.get(tool)
  if (!grant) return
  const grants = new Map(granting.grants)
  if (grant.left > 1) grants.set(tool, { ...grant, left: grant.left - 1 })
  else grants.delete(tool)
  granting.grants = grants
}

/** What a grant has agreed to and what has not begun is asked about after all. */
export function revoke(conversation: Conversation, event: EventOf<"grant_revoked">): void {
  const { tool } = event
  const isLeft = ([of]: readonly [string, CountedGrant]) => tool !== undefined && of !== tool
  conversation.grants = new Map([...conversation.grants].filter(isLeft))
  followEvent(conversation, event)
}

/** Whether there is anything to take back. */
export function isRevocable(conversation: Conversation, tool: string | undefined): boolean {
  const { grants } = conversation
  const isGranted = tool === undefined ? grants.size > 0 : grants.has(tool)
  return isGranted || grantedProposals(followedIn(conversation), tool).length > 0
}

/** Those that hold now, without the ones that somebody has taken back in words the writer has yet to read. */
export function grantsOf({ grants, inbox }: Conversation): CountedGrant[] {
  const revoked = inbox.flatMap(({ input }) => (input.type === "revoke" ? [input.tool] : []))
  return [...grants.values()].filter(({ tool }) => !revoked.includes(tool) && !revoked.includes(undefined))
}
