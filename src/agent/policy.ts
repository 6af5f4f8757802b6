import type { Conversation } from "./conversation.ts"
import type { Policy } from "./ports.ts"

/**
 * What becomes of a write before any person is asked. The model has no say in this: only the mode, which a person sets,
 * and the operator's policy. What a person takes back is shown to them all the same: they have not seen yet what it does.
 */
export function decideByPolicy(
  { mode, run }: Pick<Conversation, "mode" | "run">,
  policy: Pick<Policy, "forbidAuto">,
): "deny" | "ask" | "approve" {
  if (mode === "read-only") return "deny"
  if (run?.undoes) return "ask"
  if (mode === "auto" && !policy.forbidAuto) return "approve"
  return "ask"
}
