import type { Proposed } from "../protocol/proposal.ts"
import { type Conversation, isOurs } from "./conversation.ts"
import { covers } from "./grants.ts"
import type { Policy } from "./ports.ts"
import type { Tool } from "./tool.ts"
import { isWalled } from "./wall.ts"

/** A read-only conversation does not even look at what a write would do. */
export function isDenied({ mode }: Pick<Conversation, "mode">, { effect }: Pick<Tool, "effect">): boolean {
  return mode === "read-only" && effect === "write"
}

/**
 * Who agrees to a proposal in the person's place; undefined where they are asked. The model has no say in this: only the
 * mode and the grants, which a person sets, and the operator's policy.
 */
export function approverOf(
  conversation: Pick<Conversation, "mode" | "run" | "grants" | "holds">,
  { tool, action, insists }: Pick<Proposed, "tool" | "action" | "insists">,
  policy: Pick<Policy, "forbidAuto">,
): "policy" | "grant" | undefined {
  const { mode, run, grants } = conversation
  // What takes something back, or proposes it again, is shown to whoever asked: they have not seen yet what it does now.
  if (mode === "read-only" || insists || (run && isOurs(run)) || run?.asks || isWalled(conversation)) return undefined
  if (mode === "auto" && !policy.forbidAuto) return "policy"
  const grant = grants.get(tool)
  return grant && covers(grant, action) ? "grant" : undefined
}
