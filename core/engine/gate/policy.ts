import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { type Conversation, isServerRun } from "../conversation.ts"
import { grantFor } from "./grants.ts"
import type { Mode } from "../../protocol/schema.ts"
import type { Tool } from "../definition/tool.ts"
import { hasSeenOutsideAndPrivate, isDecidedByPerson } from "./taint.ts"

/** The operator's rules for writes. */
export interface Policy {
  readonly proposalMinutes: number
  readonly forbidAuto: boolean
}

/** The modes, from the narrowest to the widest. */
const MODES: readonly Mode[] = ["read-only", "confirm", "auto"]

/** True if a mode permits more than another. */
export const isWider = (mode: Mode, than: Mode): boolean => MODES.indexOf(mode) > MODES.indexOf(than)

/** The narrowest of these modes. */
export const narrowest = (...modes: readonly Mode[]): Mode => modes.reduce((a, b) => (isWider(a, b) ? b : a))

/** A read-only conversation does not even preview a write. */
export function isDenied({ mode }: Pick<Conversation, "mode">, { effect }: Pick<Tool, "effect">): boolean {
  return mode === "read-only" && effect === "write"
}

/** True if a call becomes a proposal, which a person or the policy decides before it runs. Other calls run at once. */
export function needsProposal(conversation: Pick<Conversation, "hasSeen">, tool: Tool | undefined): boolean {
  return tool?.effect === "write" || (tool?.egress === true && hasSeenOutsideAndPrivate(conversation))
}

type Approving = Pick<Conversation, "mode" | "run" | "grants" | "hasSeen" | "site" | "deviceId">

/**
 * True if the write goes to the device that sent the message, and its operator lets the device approve writes to
 * itself. Context sent by that device does not prevent this, but untrusted tool results do.
 */
function isOwnDevice({ run, site, deviceId, hasSeen }: Approving, tool: Pick<Tool, "staysIn">): boolean {
  const { brought: _, ...ofTools } = hasSeen
  return site === "device" && run?.approves === (deviceId ?? "") && !isDecidedByPerson({ hasSeen: ofTools }, tool)
}

/** Whether a tool works on a device, or only within the work folder. */
export interface ToolLocation extends Pick<Tool, "staysIn"> {
  readonly onSite?: boolean
}

/**
 * Who approves a proposal instead of the user; undefined if the user must decide. Only the mode, the user's grants and
 * the operator's policy decide. The model has no influence.
 */
export function automaticApprover(
  conversation: Approving,
  {
    insists,
    onSite,
    staysIn,
    ...proposed
  }: Pick<Proposed, "tool" | "action" | "commandLine" | "insists"> & ToolLocation,
  policy: Pick<Policy, "forbidAuto">,
): "policy" | "grant" | "device" | undefined {
  const { mode, run } = conversation
  // An undo or a repeated proposal is always shown, because the user has not seen what it does now.
  if (mode === "read-only" || insists || (run && isServerRun(run)) || run?.asks) return undefined
  if (onSite && !policy.forbidAuto && isOwnDevice(conversation, { staysIn })) return "device"
  if (isDecidedByPerson(conversation, { staysIn })) return undefined
  if (mode === "auto" && !policy.forbidAuto) return "policy"
  return grantFor(conversation, proposed) ? "grant" : undefined
}
