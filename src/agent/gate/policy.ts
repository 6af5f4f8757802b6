import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { type Conversation, isOurs } from "../conversation.ts"
import { covers } from "./grants.ts"
import type { Policy } from "../ports.ts"
import type { Tool } from "../definition/tool.ts"
import { hasSeenOutsideAndPrivate } from "./outside-and-private.ts"

/** A read-only conversation does not even look at what a write would do. */
export function isDenied({ mode }: Pick<Conversation, "mode">, { effect }: Pick<Tool, "effect">): boolean {
  return mode === "read-only" && effect === "write"
}

type Approving = Pick<Conversation, "mode" | "run" | "grants" | "hasSeen" | "site" | "deviceId">

/**
 * Whether it would be written on the very device that its words came from, which its operator lets agree. What that device
 * sent along itself is no reason to doubt it; what tools have brought from outside is.
 */
function isOwnDevice({ run, site, deviceId, hasSeen }: Approving): boolean {
  return site === "device" && run?.approves === (deviceId ?? "") && !(hasSeen.outside && hasSeen.private)
}

/**
 * Who agrees to a proposal in the person's place; undefined where they are asked. The model has no say in this: only the
 * mode and the grants, which a person sets, and the operator's policy.
 */
export function approverOf(
  conversation: Approving,
  { tool, action, insists, onSite }: Pick<Proposed, "tool" | "action" | "insists"> & { readonly onSite?: boolean },
  policy: Pick<Policy, "forbidAuto">,
): "policy" | "grant" | "device" | undefined {
  const { mode, run, grants } = conversation
  // What takes something back, or proposes it again, is shown to whoever asked: they have not seen yet what it does now.
  if (mode === "read-only" || insists || (run && isOurs(run)) || run?.asks) return undefined
  if (onSite && !policy.forbidAuto && isOwnDevice(conversation)) return "device"
  if (hasSeenOutsideAndPrivate(conversation)) return undefined
  if (mode === "auto" && !policy.forbidAuto) return "policy"
  const grant = grants.get(tool)
  return grant && covers(grant, action) ? "grant" : undefined
}
