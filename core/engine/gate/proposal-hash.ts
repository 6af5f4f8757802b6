import { hash } from "node:crypto"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import type { Call, Conversation } from "../conversation.ts"
import { canonicalJson } from "../../shared/text/json.ts"

/** Covers everything a person was shown and is agreeing to; computed again from what would run, just before it runs. */
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
    // Which machine is changed is part of what was agreed to.
    ...(conversation.site === "device" ? { device: conversation.deviceId } : {}),
  }
  return hash("sha256", canonicalJson(shown), "base64url")
}
