import { type Conversation, pauseReason } from "../../engine/conversation.ts"
import type { OpenProposal } from "../../engine/conversation-writes.ts"
import type { InboxItem } from "../../engine/input.ts"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { dropSettled, replayOn } from "../../engine/replay/replay.ts"
import type { EventType, JournalEvent } from "../../protocol/events.ts"
import type { CallId } from "../../protocol/ids.ts"
import { isSettled } from "../../protocol/proposals/proposal.ts"
import { toRow } from "../engine/event-rows.ts"
import type { Commit, RunValues } from "../engine/operations.ts"
import { type Bookkeeping, bookkeepingOf } from "./bookkeeping.ts"
import {
  toAuditRows,
  toHeadRow,
  toEndedRunRow,
  toProposalRows,
  toRowText,
  toRunRow,
  toUsageRows,
} from "./mirror-rows.ts"

/** Input of a commit besides its events. */
export interface CommitInput extends Pick<Commit, "lease" | "node" | "now" | "release"> {
  readonly born?: Commit["born"]
  readonly withInbox?: boolean
  readonly deciding?: Commit["deciding"] | undefined
  readonly taken?: readonly InboxItem[]
}

const NONE: readonly never[] = []

/** Creates the commit of these events from the current state. */
export function toCommit(conversation: Conversation, events: readonly JournalEvent[], options: CommitInput): Commit {
  const bookkeeping = bookkeepingOf(conversation)
  const { born = null, withInbox = false, deciding = null, taken = NONE } = options
  for (const item of taken) markConsumed(item, bookkeeping)
  const proposals = conversation.proposals.size === 0 ? NONE : changedProposals(conversation, bookkeeping)
  const changed = changedRows(conversation, events, proposals)
  const commit: Commit = {
    type: "commit",
    lease: options.lease,
    key: bookkeeping.key,
    node: options.node,
    now: options.now,
    fence: bookkeeping.fence,
    seen: bookkeeping.seen,
    withInbox,
    release: options.release,
    head: changed.head || options.release || options.lease !== "hold" ? toHeadRow(conversation) : null,
    born,
    after: events[0] ? events[0].position - 1 : conversation.position,
    events: events.map(toRow),
    runs: changed.run ? toRunRows(conversation, events, bookkeeping) : NONE,
    proposals: proposals.length === 0 ? NONE : toProposalRows(proposals, conversation.at, deciding),
    audits: proposals.length === 0 ? NONE : toAuditRows(conversation, proposals),
    // Only for new replies: a fork repeats replies that the original conversation has paid for.
    usage: options.lease === "create" ? NONE : toUsageRows(conversation, events),
    taken: taken.length === 0 ? NONE : taken.map(({ number }) => number),
    deciding,
  }
  if (proposals.length > 0) dropSettled(conversation)
  return commit
}

/** Rows of the newest run, and of earlier runs that end in the same commit. */
function toRunRows(conversation: Conversation, events: readonly JournalEvent[], bookkeeping: Bookkeeping): RunValues[] {
  const { run: last } = bookkeeping
  bookkeeping.run = conversation.run
  const row = toRunRow(conversation)
  const end = events.findIndex(({ type }) => type === "run_ended")
  if (end < 0 || !events.some(({ type }, index) => type === "run_started" && index > end)) return row ? [row] : []
  // Either a message ends a waiting run and starts another, or a fork starts with all runs.
  const isFork = events[0]?.position === 1
  const ended = isFork
    ? runsBeforeLast(conversation, events)
    : last && last !== conversation.run
      ? [toEndedRunRow(last, conversation)]
      : []
  return row ? [...ended, row] : ended
}

function runsBeforeLast({ id, user }: Conversation, events: readonly JournalEvent[]): RunValues[] {
  const state = emptyConversation(id, user)
  const rows: RunValues[] = []
  for (const event of events) {
    if (event.type === "run_started" && state.run) rows.push(toEndedRunRow(state.run, state))
    replayOn(state, [event])
  }
  return rows
}

/** A queued decision changed its proposal's row when it arrived. If it has no effect, the row must be restored. */
function markConsumed({ number, input }: InboxItem, bookkeeping: Bookkeeping): void {
  bookkeeping.taken = (bookkeeping.taken ?? new Set()).add(number)
  if ("proposalId" in input) bookkeeping.proposals?.delete(input.proposalId)
}

/** Proposals whose rows differ from the state. Afterwards they match. Open ones are few. */
function changedProposals(conversation: Conversation, bookkeeping: Bookkeeping): OpenProposal[] {
  const rows = (bookkeeping.proposals ??= new Map())
  const changed: OpenProposal[] = []
  for (const [id, proposal] of conversation.proposals) {
    const text = toRowText(proposal)
    if (rows.get(id) === text) continue
    changed.push(proposal)
    if (isSettled(proposal.status)) rows.delete(id)
    else rows.set(id, text)
  }
  return changed
}

interface ChangedRows {
  readonly head: boolean
  readonly run: boolean
  /** Only if the event changes a proposal: that of its call, or any. */
  readonly withProposal?: true
  /** Only if the run is paused afterwards. That a run continues is stored in its conversation's row. */
  readonly ifPaused?: true
}

const NEITHER: ChangedRows = { head: false, run: false }
const HEAD: ChangedRows = { head: true, run: false }
const BOTH: ChangedRows = { head: true, run: true }
/** A decision usually continues the run, so its row need not be written. */
const DECIDED: ChangedRows = { head: true, run: true, ifPaused: true }

/**
 * Whether an event changes the rows of its conversation (`head`) and of its run. Decided by event and not by
 * comparison: a run's row repeats its counts only when the run starts, pauses or ends.
 */
const changedRowsByEvent: { readonly [Type in EventType]: ChangedRows } = {
  conversation_started: HEAD,
  settings: HEAD,
  run_started: BOTH,
  message: NEITHER,
  step: NEITHER,
  tool_start: NEITHER,
  handed_over: BOTH,
  // the run stays paused while other calls are open
  tool_end: { head: false, run: true, withProposal: true, ifPaused: true },
  awaiting_confirmation: BOTH,
  proposal: NEITHER,
  decision: DECIDED,
  grant_revoked: { ...BOTH, withProposal: true },
  in_doubt: BOTH,
  resolution: DECIDED,
  late_result: NEITHER,
  restarted: NEITHER,
  fallback: NEITHER,
  history_cut: NEITHER,
  compaction: NEITHER,
  run_ended: BOTH,
}

function changedRows(
  conversation: Conversation,
  events: readonly JournalEvent[],
  proposals: readonly OpenProposal[],
): ChangedRows {
  let head = false
  let run = false
  for (const event of events) {
    // A result from a client: the run continues or waits for the next one.
    const continuesRun = event.type === "tool_end" && event.by !== undefined
    // The cost of a title arrives after the run, and belongs to it.
    const isPaid = event.type === "settings" && event.titledBy?.usage !== undefined
    const changed = continuesRun || isPaid ? BOTH : changedRowsByEvent[event.type]
    if (changed.withProposal && !proposals.some(({ proposed }) => concernsCall(event, proposed.callId))) continue
    head ||= changed.head
    run ||= changed.run && (!changed.ifPaused || pauseReason(conversation) !== undefined)
  }
  return { head, run }
}

const concernsCall = (event: JournalEvent, callId: CallId): boolean => !("callId" in event) || event.callId === callId
