import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk"
import type { Client } from "../../client/client.ts"
import { hasCode } from "../../core/protocol/errors.ts"
import { describeAlways } from "../../client/format.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { changedLocations, diffContent, toolKindOf, locationsOf, textContent } from "./shown-call.ts"

const YES: PermissionOption = { optionId: "yes", kind: "allow_once", name: "Yes" }
const always = (proposal: Proposal): PermissionOption => ({
  optionId: "always",
  kind: "allow_always",
  name: `Yes, and approve ${describeAlways(proposal)}`,
})
const NO: PermissionOption = { optionId: "no", kind: "reject_once", name: "No" }

/** The choices for a write in doubt. */
const IN_DOUBT: readonly PermissionOption[] = [
  { optionId: "retry", kind: "allow_once", name: "It was not done: do it again" },
  { optionId: "done", kind: "allow_once", name: "It was done" },
  { optionId: "abandon", kind: "reject_once", name: "Give it up" },
]

/** A proposal as a permission request. A write that must always be asked about offers no approval in advance. */
export function toQuestion(sessionId: string, root: string, proposal: Proposal): RequestPermissionRequest {
  const { callId, tool, summary, arguments: input, diff, insists, reason, status } = proposal
  const changed = changedLocations(root, diff)
  const content = diffContent(root, diff)
  const options = status === "in_doubt" ? [...IN_DOUBT] : insists || reason ? [YES, NO] : [YES, always(proposal), NO]
  return {
    sessionId,
    options,
    toolCall: {
      toolCallId: callId,
      title: summary,
      name: tool,
      kind: toolKindOf(tool),
      status: "pending",
      rawInput: input,
      content: [...(reason ? [textContent(reason)] : []), ...(content.length > 0 ? content : [textContent(summary)])],
      locations: changed.length > 0 ? changed : locationsOf(root, input),
    },
  }
}

/** `expired`: too late. `decided`: another client was first, and the conversation shows its decision. */
type PermissionResult = "taken" | "decided" | "expired"

/** Executes the person's choice. By the proposal's id, so that what was shown is what runs. */
export async function carryOut(client: Client, proposal: Proposal, optionId: string): Promise<PermissionResult> {
  const params = { id: proposal.id }
  try {
    if (optionId === "retry" || optionId === "done" || optionId === "abandon")
      await client.resolveProposal({ params, body: { choice: optionId } })
    else if (optionId === "always") await client.commitProposal({ params, body: { always: true } })
    else if (optionId === "yes") await client.commitProposal({ params })
    // An unknown option is no approval.
    else await client.rejectProposal({ params })
    return "taken"
  } catch (error) {
    if (hasCode(error, "proposal_expired")) return "expired"
    if (hasCode(error, "proposal_decided")) return "decided"
    throw error
  }
}
