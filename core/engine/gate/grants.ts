import { grantedProposals } from "../../protocol/calls/follow-calls.ts"
import type { EventOf } from "../../protocol/events.ts"
import { type ActionClass, coversCommand, type Proposed, whyNoPrefix } from "../../protocol/proposals/proposal.ts"
import { followEvent, followedIn } from "../calls/follow.ts"
import type { Conversation } from "../conversation.ts"
import type { CountedGrant } from "../conversation-writes.ts"
import { isDecidedByPerson } from "./taint.ts"

/** From mild to bad. A grant covers what was shown and anything milder: agreeing to a change agrees to no deletion. */
const BADNESS: readonly ActionClass[] = ["safe_create", "safe_update", "destructive_update", "destructive_delete"]

type Covered = Pick<Proposed, "tool" | "action" | "commandLine">

/**
 * The grant that covers a proposal. One for a tool that runs commands has to name the command: those of older versions,
 * which covered every command, match none.
 */
export function grantFor({ grants }: Pick<Conversation, "grants">, proposed: Covered): CountedGrant | undefined {
  const { tool, action, commandLine } = proposed
  const coversAction = (grant: CountedGrant) =>
    grant.left > 0 && BADNESS.indexOf(action) <= BADNESS.indexOf(grant.action)
  const found = [...grants.values()].filter((grant) => grant.tool === tool && coversAction(grant))
  if (commandLine === undefined) return found.find((grant) => !isOfCommand(grant))
  // The one for just this command first: a prefix stays for others.
  const ofCommand = found.filter((grant) => coversCommand(grant, commandLine))
  return ofCommand.find(({ prefix }) => prefix === undefined) ?? ofCommand[0]
}

const isOfCommand = ({ commandLine, prefix }: CountedGrant) => commandLine !== undefined || prefix !== undefined

/** Of a tool alone, of a tool and a command line, or of a tool and a prefix: each is one grant. */
function keyOf({ tool, commandLine, prefix }: CountedGrant): string {
  if (prefix !== undefined) return `${tool}\nprefix ${prefix}`
  return commandLine === undefined ? tool : `${tool}\nline ${commandLine}`
}

/** The part of the fold that follows grants. They come from decisions of people only: nothing a model says makes one. */
export function grant(conversation: Conversation, { grant, proposalId, by, at }: EventOf<"decision">): void {
  const proposed = conversation.proposals.get(proposalId)?.proposed
  // Nothing is agreed to beforehand there. Of a folder's text alone: `approverOf` lets it count for changes of the folder.
  if (!grant || !proposed || isDecidedByPerson(conversation, { staysIn: "folder" })) return
  const { tool, action, commandLine } = proposed
  const { uses, prefix } = grant
  if (prefix !== undefined && whyNoPrefix(prefix, commandLine) !== undefined) return
  const cover = prefix !== undefined ? { prefix } : commandLine !== undefined ? { commandLine } : {}
  const counted = { tool, action, ...cover, uses, left: uses, grantedAt: at, by }
  conversation.grants = new Map(conversation.grants).set(keyOf(counted), counted)
}

export function useGrant(granting: Pick<Conversation, "grants">, proposed: Covered): void {
  const grant = grantFor(granting, proposed)
  if (!grant) return
  const grants = new Map(granting.grants)
  if (grant.left > 1) grants.set(keyOf(grant), { ...grant, left: grant.left - 1 })
  else grants.delete(keyOf(grant))
  granting.grants = grants
}

/** What a grant has agreed to and what has not begun is asked about after all. */
export function revoke(conversation: Conversation, event: EventOf<"grant_revoked">): void {
  const { tool } = event
  const isLeft = ([, grant]: readonly [string, CountedGrant]) => tool !== undefined && grant.tool !== tool
  conversation.grants = new Map([...conversation.grants].filter(isLeft))
  followEvent(conversation, event)
}

/** One for every command, as older versions made them. It counts no longer, so it is not listed either. */
const coversNothing = (grant: CountedGrant) => grant.tool === "run_command" && !isOfCommand(grant)

/** Whether there is anything to take back. */
export function isRevocable(conversation: Conversation, tool: string | undefined): boolean {
  const { grants } = conversation
  const isGranted = [...grants.values()].some((grant) => tool === undefined || grant.tool === tool)
  return isGranted || grantedProposals(followedIn(conversation), tool).length > 0
}

/** Those that hold now, without the ones that somebody has taken back in words the writer has yet to read. */
export function grantsOf({ grants, inbox }: Conversation): CountedGrant[] {
  const revoked = inbox.flatMap(({ input }) => (input.type === "revoke" ? [input.tool] : []))
  return [...grants.values()].filter(
    (grant) => !revoked.includes(grant.tool) && !revoked.includes(undefined) && !coversNothing(grant),
  )
}
