import { failure, hasCode } from "../../protocol/errors.ts"
import type { ConversationId, ProposalId } from "../../protocol/ids.ts"
import type { Runtime } from "./runtime.ts"

export interface DecideAll {
  /** `all` and `none` are also the answer to every later question: the mode becomes `auto` or `read-only`. */
  readonly decision: "yes" | "no" | "all" | "none"
  /** What the person was shown: what has been proposed since is not decided unseen. */
  readonly proposalIds: readonly ProposalId[]
  readonly by: string
  readonly credential?: string
}

/** Decides several proposals of a conversation at once. What somebody else has decided meanwhile stays as it is. */
export async function decideAll(
  runtime: Runtime,
  id: ConversationId,
  { decision, proposalIds, ...who }: DecideAll,
): Promise<void> {
  if (decision === "all" && runtime.ports.policy.forbidAuto) throw failure("mode_forbidden", { mode: "auto" })
  const verdict = decision === "yes" || decision === "all" ? "commit" : "reject"
  // Read-only comes first: between two rejections no further write may slip through.
  if (decision === "none") await runtime.submit(id, { type: "settings", mode: "read-only" })
  for (const proposalId of proposalIds) {
    try {
      await runtime.submit(id, { type: "decide", proposalId, decision: verdict, ...who })
    } catch (error) {
      if (!hasCode(error, "proposal_decided") && !hasCode(error, "proposal_expired")) throw error
    }
  }
  if (decision === "all") await runtime.submit(id, { type: "settings", mode: "auto" })
}
