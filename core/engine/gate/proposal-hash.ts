import { hash } from "node:crypto"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import type { Call, Conversation } from "../conversation.ts"
import { canonicalJson } from "../../shared/text/json.ts"

/**
 * Covers everything that a person saw and approves. It is computed again from what would be executed, just before it
 * is.
 */
export function proposalHash(
  conversation: Pick<Conversation, "id" | "user"> & Partial<Pick<Conversation, "site" | "deviceId">>,
  call: Pick<Call, "input">,
  {
    tool,
    version,
    target,
    revision,
    expiresAt,
  }: Pick<Proposed, "tool" | "version" | "target" | "revision" | "expiresAt">,
): string {
  const shown = {
    tool,
    version,
    arguments: call.input,
    target,
    revision,
    user: conversation.user,
    conversation: conversation.id,
    expiresAt,
    // The device is part of what was approved.
    ...(conversation.site === "device" ? { device: conversation.deviceId } : {}),
  }
  return hash("sha256", canonicalJson(shown), "base64url")
}
