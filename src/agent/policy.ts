import type { Mode } from "../protocol/schema.ts"
import type { Policy } from "./ports.ts"

/**
 * What becomes of a write before any person is asked. The model has no say in this: only the mode, which a person sets,
 * and the operator's policy.
 */
export function decideByPolicy(mode: Mode, policy: Pick<Policy, "forbidAuto">): "deny" | "ask" | "approve" {
  if (mode === "read-only") return "deny"
  if (mode === "auto" && !policy.forbidAuto) return "approve"
  return "ask"
}
