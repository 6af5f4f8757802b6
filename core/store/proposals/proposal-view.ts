import type { ConversationId, ProposalId, RunId } from "../../protocol/ids.ts"
import type { Proposal, Proposed, ProposalStatus } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { toTime } from "../engine/row-values.ts"

/** The state of a proposal. Its content is in the event that opened it. */
export interface ProposalStateRow {
  readonly id: ProposalId
  readonly run_id: RunId
  readonly status: ProposalStatus
  readonly code: string | null
  readonly expires_at: number
  readonly seen_at: number | null
}

export interface Opening {
  readonly proposed: Proposed
  /** When it was opened. */
  readonly at: number
  /** The arguments of the call. */
  readonly given: JsonObject
}

/** A proposal as the API returns it at the time `now`. */
export function toProposalView(
  row: ProposalStateRow,
  conversationId: ConversationId,
  { proposed, at, given }: Opening,
  now: number,
): Proposal {
  const { id, code } = row
  const { callId, tool, action, summary, title, diff = null, undoable, version, hash } = proposed
  const isExpired = row.status === "pending" && row.expires_at <= now
  return {
    id,
    conversationId,
    runId: row.run_id,
    callId,
    tool,
    action,
    summary,
    arguments: given,
    diff,
    undoable,
    ...(title === undefined ? {} : { title }),
    ...(proposed.insists ? { insists: true } : {}),
    ...(proposed.sends ? { sends: true } : {}),
    ...(proposed.reason === undefined ? {} : { reason: proposed.reason }),
    ...(proposed.commandLine === undefined ? {} : { commandLine: proposed.commandLine }),
    version,
    hash,
    status: isExpired ? "expired" : row.status,
    ...(code === null ? {} : { code }),
    createdAt: toTime(at),
    expiresAt: toTime(row.expires_at),
    ...(row.seen_at === null ? {} : { seenAt: toTime(row.seen_at) }),
  }
}
