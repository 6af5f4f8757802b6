import { type Conversation, conversationStatus, pauseReason, runStatus } from "../../engine/conversation.ts"
import type { OpenProposal } from "../../engine/conversation-writes.ts"
import type { Input } from "../../engine/input.ts"
import { statusAfterDecision, statusAfterResolution } from "../../protocol/calls/follow-calls.ts"
import type { PauseReason } from "../../protocol/conversation/conversation.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { AuditId, CallId } from "../../protocol/ids.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import type { AuditRow, DecisionCondition, HeadRow, ProposalRow, RunValues, UsageRow } from "../engine/operations.ts"

/** The tables beside the journal repeat what its fold says, for plain SQL and for lists. These are their rows. */
export function toHeadRow(conversation: Conversation): HeadRow {
  const { agent, model, provider, mode, title, site, deviceId, connectionId: connection } = conversation
  const device = site === "device" ? (deviceId ?? "") : null
  const settings = Object.keys(conversation.settings).length > 0 ? toStorableJson(conversation.settings) : null
  const status = conversationStatus(conversation)
  return { agent, model, provider, mode, title, status, device, connection, settings }
}

/** Written when a run starts, pauses or ends; what it counts in between is told by the journal. */
export function toRunRow(conversation: Conversation): RunValues | null {
  const { run, model } = conversation
  if (!run) return null
  return toRunValues({ run, model }, runStatus(conversation) ?? run.status, unusual(pauseReason(conversation)))
}

/** Of a run that was ended by the words that began the next. */
export const toEndedRunRow = (run: FoldedRun, { model }: Pick<Conversation, "model">): RunValues =>
  toRunValues({ run, model }, run.status, null)

type FoldedRun = NonNullable<Conversation["run"]>

function toRunValues(
  { run, model }: { readonly run: FoldedRun } & Pick<Conversation, "model">,
  status: string,
  pause: PauseReason | null,
): RunValues {
  return [
    run.id,
    status,
    run.iteration,
    run.maxIterations,
    pause,
    run.error?.code ?? null,
    run.error?.message ?? null,
    run.usage?.inputTokens ?? null,
    run.usage?.outputTokens ?? null,
    run.startedAt,
    run.endedAt ?? null,
    run.model ?? model,
  ]
}

/** Left out of the row of a paused run, and put back by whoever reads it. */
export const USUAL_PAUSE: PauseReason = "awaiting_confirmation"

const unusual = (reason: PauseReason | undefined): PauseReason | null =>
  reason === undefined || reason === USUAL_PAUSE ? null : reason

/** What of a proposal's row may change; the rest is said when it is opened. */
export const toRowText = ({ status, code = "", decidedBy = "" }: OpenProposal): string =>
  `${status} ${code} ${decidedBy}`

/** Rows of the proposals that the last events have opened, decided or settled. */
export function toProposalRows(
  changed: readonly OpenProposal[],
  at: number,
  deciding: DecisionCondition | null,
): ProposalRow[] {
  const rows: ProposalRow[] = []
  for (const { runId, position, status, code, decidedBy, proposed } of changed) {
    const { id, expiresAt } = proposed
    // The decision writes its proposal's row by itself, under the condition that nobody was faster.
    if (id === deciding?.proposal && status === deciding.to) continue
    const decidedAt = status === "pending" ? null : at
    rows.push([id, runId, position, status, code ?? null, expiresAt, decidedBy ?? null, decidedAt])
  }
  return rows
}

/** Rows of the writes that the last events say were applied: in the same commit, so that there is never one without the other. */
export function toAuditRows({ id, user }: Conversation, changed: readonly OpenProposal[]): AuditRow[] {
  const rows: AuditRow[] = []
  for (const { proposed, runId, input, decidedBy, applied, undoes } of changed) {
    if (!applied) continue
    const { callId, tool, action, summary, diff } = proposed
    const { before = null, after = null } = applied.change ?? diff ?? {}
    const whose = [auditIdOf(callId), id, user, runId, callId, proposed.id] as const
    const change = [toStorableJson(input), toStorableJson(before), toStorableJson(after)] as const
    const inverse = applied.inverse ? toStorableJson(applied.inverse) : null
    rows.push([...whose, tool, action, summary, ...change, decidedBy ?? "", applied.at, inverse, undoes ?? null])
  }
  return rows
}

/** A call is applied once, so its own id names the row: a second one is impossible, not merely avoided. */
const auditIdOf = (id: CallId): AuditId => id.replace(/^call_/, "aud_") as AuditId

/** What model calls have used, for those whose price is looked after. */
export function toUsageRows({ id, user, run }: Conversation, events: readonly JournalEvent[]): UsageRow[] {
  const rows: UsageRow[] = []
  for (const event of events) {
    const used = usedBy(event)
    if (used?.usage?.paidBy === undefined || !run) continue
    const { provider = "", paidBy, inputTokens, outputTokens, cachedTokens = null, cost = null } = used.usage
    const whose = [run.id, used.id, id, user, used.model ?? "", provider, paidBy] as const
    rows.push([...whose, utcDay(event.at), inputTokens, outputTokens, cachedTokens, toMicros(cost)])
  }
  return rows
}

/** Replies, and decisions and titles that a model was asked for beside them. */
function usedBy(event: JournalEvent) {
  if (event.type === "message") return event
  if (event.type === "settings") return event.titledBy && { ...event.titledBy, id: `title_${event.position}` }
  const asked = event.type === "step" || event.type === "compaction" ? event.asked : undefined
  return asked && { ...asked, id: `step_${event.position}` }
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
