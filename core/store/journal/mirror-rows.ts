import { type Conversation, conversationStatus, pauseReason, runStatus } from "../../engine/conversation.ts"
import type { OpenProposal } from "../../engine/conversation-writes.ts"
import type { Input } from "../../engine/input.ts"
import { statusAfterDecision, statusAfterResolution } from "../../protocol/calls/follow-calls.ts"
import type { PauseReason } from "../../protocol/conversation/conversation.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { AuditId, CallId } from "../../protocol/ids.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import type { AuditRow, DecisionCondition, HeadRow, ProposalRow, RunValues, UsageRow } from "../engine/operations.ts"

/** Rows of the tables that repeat the state for plain SQL and for lists. */
export function toHeadRow(conversation: Conversation): HeadRow {
  const { agent, model, provider, mode, title, site, deviceId, connectionId: connection } = conversation
  const device = site === "device" ? (deviceId ?? "") : null
  const settings = Object.keys(conversation.settings).length > 0 ? toStorableJson(conversation.settings) : null
  const status = conversationStatus(conversation)
  return { agent, model, provider, mode, title, status, device, connection, settings }
}

/** Written when a run starts, pauses or ends. In between, only the journal has its counts. */
export function toRunRow(conversation: Conversation): RunValues | null {
  const { run, model } = conversation
  if (!run) return null
  return toRunValues({ run, model }, runStatus(conversation) ?? run.status, unlessDefault(pauseReason(conversation)))
}

/** The row of a run that a message ended by starting the next one. */
export const toEndedRunRow = (run: RunState, { model }: Pick<Conversation, "model">): RunValues =>
  toRunValues({ run, model }, run.status, null)

type RunState = NonNullable<Conversation["run"]>

function toRunValues(
  { run, model }: { readonly run: RunState } & Pick<Conversation, "model">,
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

/** Not stored in the row of a paused run; readers add it. */
export const DEFAULT_PAUSE: PauseReason = "awaiting_confirmation"

const unlessDefault = (reason: PauseReason | undefined): PauseReason | null =>
  reason === undefined || reason === DEFAULT_PAUSE ? null : reason

/** The fields of a proposal's row that can change. */
export const toRowText = ({ status, code = "", decidedBy = "" }: OpenProposal): string =>
  `${status} ${code} ${decidedBy}`

/** Rows of the proposals that these events opened, decided or settled. */
export function toProposalRows(
  changed: readonly OpenProposal[],
  at: number,
  deciding: DecisionCondition | null,
): ProposalRow[] {
  const rows: ProposalRow[] = []
  for (const { runId, position, status, code, decidedBy, proposed } of changed) {
    const { id, expiresAt } = proposed
    // The decision itself updates the row, if it is the first.
    if (id === deciding?.proposal && status === deciding.to) continue
    const decidedAt = status === "pending" ? null : at
    rows.push([id, runId, position, status, code ?? null, expiresAt, decidedBy ?? null, decidedAt])
  }
  return rows
}

/** Rows of the writes that these events applied. In the same commit, so that neither exists without the other. */
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

/** A call is applied once, so its id identifies the row and a second one is impossible. */
const auditIdOf = (id: CallId): AuditId => id.replace(/^call_/, "aud_") as AuditId

/** The usage of model calls with a known payer. */
export function toUsageRows({ id, user, run }: Conversation, events: readonly JournalEvent[]): UsageRow[] {
  const rows: UsageRow[] = []
  for (const event of events) {
    const usage = usedBy(event)
    if (usage?.usage?.paidBy === undefined || !run) continue
    const { provider = "", paidBy, inputTokens, outputTokens, cachedTokens = null, cost = null } = usage.usage
    const whose = [run.id, usage.id, id, user, usage.model ?? "", provider, paidBy] as const
    rows.push([
      ...whose,
      utcDay(event.at),
      inputTokens,
      outputTokens,
      cachedTokens,
      toMicros(cost),
      run.rootRun ?? null,
    ])
  }
  return rows
}

/** Replies, and model calls for decisions and titles next to them. */
function usedBy(event: JournalEvent) {
  if (event.type === "message") return event
  if (event.type === "settings") return event.titledBy && { ...event.titledBy, id: `title_${event.position}` }
  const modelCall = event.type === "step" || event.type === "compaction" ? event.asked : undefined
  return modelCall && { ...modelCall, id: `step_${event.position}` }
}

/** The UTC day of a time. */
export const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

export const toMicros = (dollars: number | null): number | null =>
  dollars === null ? null : Math.round(dollars * 1_000_000)

/** How an input that decides a proposal changes its row; null for other inputs. */
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
