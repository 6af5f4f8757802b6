import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { type Conversation, isOurs } from "../conversation.ts"
import { grantFor } from "./grants.ts"
import type { Policy } from "../ports.ts"
import type { Mode } from "../../protocol/schema.ts"
import type { Tool } from "../definition/tool.ts"
import { isDecidedByPerson } from "./taint.ts"

/** What a conversation may do in each mode, from the least to the most. */
const MODES: readonly Mode[] = ["read-only", "confirm", "auto"]

/** Whether a mode lets a conversation do more than another one. */
export const isWider = (mode: Mode, than: Mode): boolean => MODES.indexOf(mode) > MODES.indexOf(than)

/** The mode that lets a conversation do the least. */
export const narrowest = (...modes: readonly Mode[]): Mode => modes.reduce((a, b) => (isWider(a, b) ? b : a))

/** A read-only conversation does not even look at what a write would do. */
export function isDenied({ mode }: Pick<Conversation, "mode">, { effect }: Pick<Tool, "effect">): boolean {
  return mode === "read-only" && effect === "write"
}

type Approving = Pick<Conversation, "mode" | "run" | "grants" | "hasSeen" | "site" | "deviceId">

/**
 * Whether it would be written on the very device that its words came from, which its operator lets agree. What that device
 * sent along itself is no reason to doubt it; what tools have brought from outside is.
 */
function isOwnDevice({ run, site, deviceId, hasSeen }: Approving, tool: Pick<Tool, "staysIn">): boolean {
  const { brought: _, ...ofTools } = hasSeen
  return site === "device" && run?.approves === (deviceId ?? "") && !isDecidedByPerson({ hasSeen: ofTools }, tool)
}

export interface GatedTool extends Pick<Tool, "staysIn"> {
  readonly onSite?: boolean
}

/**
 * Who agrees to a proposal in the person's place; undefined where they are asked. The model has no say in this: only the
 * mode and the grants, which a person sets, and the operator's policy.
 */
export function approverOf(
  conversation: Approving,
  { insists, onSite, staysIn, ...proposed }: Pick<Proposed, "tool" | "action" | "commandLine" | "insists"> & GatedTool,
  policy: Pick<Policy, "forbidAuto">,
): "policy" | "grant" | "device" | undefined {
  const { mode, run } = conversation
  // What takes something back, or proposes it again, is shown to whoever asked: they have not seen yet what it does now.
  if (mode === "read-only" || insists || (run && isOurs(run)) || run?.asks) return undefined
  if (onSite && !policy.forbidAuto && isOwnDevice(conversation, { staysIn })) return "device"
  if (isDecidedByPerson(conversation, { staysIn })) return undefined
  if (mode === "auto" && !policy.forbidAuto) return "policy"
  return grantFor(conversation, proposed) ? "grant" : undefined
}
