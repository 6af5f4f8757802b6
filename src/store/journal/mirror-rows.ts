import { type Conversation, conversationStatus, pauseReason, runStatus } from "../../agent/conversation.ts"
import type { Input } from "../../agent/input.ts"
import { statusAfterDecision, statusAfterResolution } from "../../protocol/calls/follow-calls.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import { toStorableJson } from "../../protocol/text.ts"
import type { AuditRow, DecisionCondition, HeadRow, ProposalRow, RunValues, UsageRow } from "../engine/operations.ts"

/** The tables beside the journal repeat what its fold says, for plain SQL and for lists. These are their rows. */
export function toHeadRow(conversation: Conversation): HeadRow {
  const { agent, model, provider, mode, title, site, deviceId, connectionId: connection } = conversation
  const device = site === "device" ? (deviceId ?? "") : null
  return { agent, model, provider, mode, title, status: conversationStatus(conversation), device, connection }
}

/** Written when a run starts, pauses, goes on or ends; what it counts in between is told by the journal. */
export function toRunRow(conversation: Conversation): RunValues | null {
  const { run } = conversation
  if (!run) return null
  return [
    run.id,
    runStatus(conversation) ?? run.status,
    run.iteration,
    run.maxIterations,
    pauseReason(conversation) ?? null,
    run.error?.code ?? null,
    run.error?.message ?? null,
    run.usage?.inputTokens ?? null,
    run.usage?.outputTokens ?? null,
    run.startedAt,
    run.endedAt ?? null,
    run.model ?? conversation.model,
  ]
}

/** Rows of the proposals that the last events have opened, decided or settled. */
export function toProposalRows(
  { changed, proposals, at }: Conversation,
  deciding: DecisionCondition | null,
): ProposalRow[] {
  return [...changed.proposals].flatMap((id): ProposalRow[] => {
    const entry = proposals.get(id)
    // The decision writes its proposal's row by itself, under the condition that nobody was faster.
    if (!entry || (id === deciding?.proposal && entry.status === deciding.to)) return []
    const { runId, position, status, code, decidedBy, proposed } = entry
    const decidedAt = status === "pending" ? null : at
    return [[id, runId, position, status, code ?? null, proposed.expiresAt, decidedBy ?? null, decidedAt]]
  })
}

/** Rows of the writes that the last events say were applied: in the same commit, so that there is never one without the other. */
export function toAuditRows({ id: conversation, user, changed }: Conversation): AuditRow[] {
  return changed.applied.map((entry) => [
    entry.id,
    conversation,
    user,
    entry.runId,
    entry.callId,
    entry.proposalId,
    entry.tool,
    entry.action,
    entry.summary,
    toStorableJson(entry.input),
    toStorableJson(entry.before),
    toStorableJson(entry.after),
    entry.decidedBy,
    entry.at,
    entry.inverse ? toStorableJson(entry.inverse) : null,
    entry.undoes ?? null,
  ])
}

/** What model calls have used, for those whose price is looked after. */
export function toUsageRows({ id, user, run }: Conversation, events: readonly JournalEvent[]): UsageRow[] {
  return events.flatMap((event): UsageRow[] => {
    const used = usedBy(event)
    if (used?.usage?.paidBy === undefined || !run) return []
    const { provider = "", paidBy, inputTokens, outputTokens, cachedTokens = null, cost = null } = used.usage
    const whose = [run.id, used.id, id, user, used.model ?? "", provider, paidBy] as const
    return [[...whose, utcDay(event.at), inputTokens, outputTokens, cachedTokens, toMicros(cost)]]
  })
}

/** Replies, and decisions that a model was asked for beside them. */
function usedBy(event: JournalEvent) {
  if (event.type === "message") return event
  return event.type === "step" ? { ...event.asked, id: `step_${event.position}` } : undefined
}

/** The day of a moment, everywhere on earth. */
export const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

export const toMicros = (dollars: number | null): number | null =>
  dollars === null ? null : Math.round(dollars * 1_000_000)

/** How an input that decides a proposal changes its row; null for every other. */
export function toDeciding(input: Input): DecisionCondition | null {
  switch (input.type) {
    case "decide": {
      const to = statusAfterDecision[input.decision]
      return { proposal: input.proposalId, from: "pending", to, by: input.by }
    }
    case "edit":
      return { proposal: input.proposalId, from: "pending", to: statusAfterDecision.edit, by: input.by }
    case "resolve": {
      const to = statusAfterResolution[input.choice]
      return { proposal: input.proposalId, from: "in_doubt", to, by: input.by }
    }
    case "again":
      return { proposal: input.proposalId, from: "expired", to: "superseded", by: input.by }
    default:
      return null
  }
}
