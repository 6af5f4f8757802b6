import type { StopReason } from "@agentclientprotocol/sdk"
import type { Finish } from "../../core/protocol/conversation/message.ts"

/** Why a run ended, of those that were not failures. `finish` is how its last reply ended. */
export function stopReasonOf(
  status: "completed" | "cancelled",
  reason: string | undefined,
  finish: Finish | undefined,
): StopReason {
  if (status === "cancelled") return "cancelled"
  if (finish === "refused") return "refusal"
  if (finish === "limit" || reason === "reply_limit") return "max_tokens"
  return reason === "iteration_limit" ? "max_turn_requests" : "end_turn"
}
