import { grantedProposals } from "../../protocol/calls/follow-calls.ts"
import type { EventOf } from "../../protocol/events.ts"
import { type ActionClass, coversCommand, type Proposed, whyNoPrefix } from "../../protocol/proposals/proposal.ts"
import { followEvent, followedIn } from "../calls/follow-event.ts"
import type { Conversation } from "../conversation.ts"
import type { CountedGrant } from "../conversation-writes.ts"
import { isDecidedByPerson } from "./taint.ts"

/**
 * From mild to severe. A grant covers the class that was shown and milder ones: a grant for updates does not cover
 * deletions.
 */
const BADNESS: readonly ActionClass[] = ["safe_create", "safe_update", "destructive_update", "destructive_delete"]

type Covered = Pick<Proposed, "tool" | "action" | "commandLine">

/**
 * The grant that covers a proposal. For a tool that runs commands it must name the command. Grants of older versions,
 * which covered every command, match none.
 */
export function grantFor({ grants }: Pick<Conversation, "grants">, proposed: Covered): CountedGrant | undefined {
  const { tool, action, commandLine } = proposed
  const coversAction = (grant: CountedGrant) =>
    grant.left > 0 && BADNESS.indexOf(action) <= BADNESS.indexOf(grant.action)
  const found = [...grants.values()].filter((grant) => grant.tool === tool && coversAction(grant))
  if (commandLine === undefined) return found.find((grant) => !isOfCommand(grant))
  // The grant for exactly this command first, so that a prefix remains for others.
  const ofCommand = found.filter((grant) => coversCommand(grant, commandLine))
  return ofCommand.find(({ prefix }) => prefix === undefined) ?? ofCommand[0]
}

const isOfCommand = ({ commandLine, prefix }: CountedGrant) => commandLine !== undefined || prefix !== undefined

/** The key of a grant: a tool; a tool and a command line; or a tool and a prefix. */
function keyOf({ tool, commandLine, prefix }: CountedGrant): string {
  if (prefix !== undefined) return `${tool}\nprefix ${prefix}`
  return commandLine === undefined ? tool : `${tool}\nline ${commandLine}`
}

/** Applies grants of decisions. Only a person's decision creates one, never a model's text. */
export function grant(conversation: Conversation, { grant, proposalId, by, at }: EventOf<"decision">): void {
  const proposed = conversation.proposals.get(proposalId)?.proposed
  // Not with untrusted text and private data. Untrusted text of a folder alone does not exclude changes of that folder:
  // see `automaticApprover`.
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

/** Calls that a grant approved and that have not started need a decision again. */
export function revoke(conversation: Conversation, event: EventOf<"grant_revoked">): void {
  const { tool } = event
  const isLeft = ([, grant]: readonly [string, CountedGrant]) => tool !== undefined && grant.tool !== tool
  conversation.grants = new Map([...conversation.grants].filter(isLeft))
  followEvent(conversation, event)
}

/** A grant for every command, as older versions created them. It has no effect, so it is not listed. */
const coversNothing = (grant: CountedGrant) => grant.tool === "run_command" && !isOfCommand(grant)

/** True if there is a grant to revoke. */
export function isRevocable(conversation: Conversation, tool: string | undefined): boolean {
  const { grants } = conversation
  const isGranted = [...grants.values()].some((grant) => tool === undefined || grant.tool === tool)
  return isGranted || grantedProposals(followedIn(conversation), tool).length > 0
}

/** The grants in effect, without those that an unread input revokes. */
export function grantsOf({ grants, inbox }: Conversation): CountedGrant[] {
  const revoked = inbox.flatMap(({ input }) => (input.type === "revoke" ? [input.tool] : []))
  return [...grants.values()].filter(
    (grant) => !revoked.includes(grant.tool) && !revoked.includes(undefined) && !coversNothing(grant),
  )
}
