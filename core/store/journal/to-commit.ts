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

/** What a commit is told beside its events. */
export interface Committing extends Pick<Commit, "lease" | "node" | "now" | "release"> {
  readonly born?: Commit["born"]
  readonly withInbox?: boolean
  readonly deciding?: Commit["deciding"] | undefined
  readonly taken?: readonly InboxItem[]
}

const NONE: readonly never[] = []

/** Everything a commit changes, taken from the fold now: what is staged later belongs to the next one. */
export function toCommit(conversation: Conversation, events: readonly JournalEvent[], how: Committing): Commit {
  const books = bookkeepingOf(conversation)
  const { born = null, withInbox = false, deciding = null, taken = NONE } = how
  for (const item of taken) take(item, books)
  const proposals = conversation.proposals.size === 0 ? NONE : changedProposals(conversation, books)
  const changed = changedRows(conversation, events, proposals)
  const commit: Commit = {
    type: "commit",
    lease: how.lease,
    key: books.key,
    node: how.node,
    now: how.now,
    fence: books.fence,
    seen: books.seen,
    withInbox,
    release: how.release,
    head: changed.head || how.release || how.lease !== "hold" ? toHeadRow(conversation) : null,
    born,
    after: events[0] ? events[0].position - 1 : conversation.position,
    events: events.map(toRow),
    runs: changed.run ? toRunRows(conversation, events, books) : NONE,
    proposals: proposals.length === 0 ? NONE : toProposalRows(proposals, conversation.at, deciding),
    audits: proposals.length === 0 ? NONE : toAuditRows(conversation, proposals),
    // Only where a reply is new: a fork repeats what the conversation it comes from has paid for.
    usage: how.lease === "create" ? NONE : toUsageRows(conversation, events),
    taken: taken.length === 0 ? NONE : taken.map(({ number }) => number),
    deciding,
  }
  if (proposals.length > 0) dropSettled(conversation)
  return commit
}

/** Of the newest run, and of those before it that have ended in the same commit. */
function toRunRows(conversation: Conversation, events: readonly JournalEvent[], books: Bookkeeping): RunValues[] {
  const { run: last } = books
  books.run = conversation.run
  const row = toRunRow(conversation)
  const end = events.findIndex(({ type }) => type === "run_ended")
  if (end < 0 || !events.some(({ type }, index) => type === "run_started" && index > end)) return row ? [row] : []
  // Words that begin a run have ended one that waited; or a fork begins with all that there were.
  const isFork = events[0]?.position === 1
  const ended = isFork
    ? runsBeforeLast(conversation, events)
    : last && last !== conversation.run
      ? [toEndedRunRow(last, conversation)]
      : []
  return row ? [...ended, row] : ended
}

function runsBeforeLast({ id, user }: Conversation, events: readonly JournalEvent[]): RunValues[] {
  const fold = emptyConversation(id, user)
  const rows: RunValues[] = []
  for (const event of events) {
    if (event.type === "run_started" && fold.run) rows.push(toEndedRunRow(fold.run, fold))
    replayOn(fold, [event])
  }
  return rows
}

/** A decision that waited has changed its proposal's row when it came. If it comes to nothing, that row has to go back. */
function take({ number, input }: InboxItem, books: Bookkeeping): void {
  books.taken = (books.taken ?? new Set()).add(number)
  if ("proposalId" in input) books.proposals?.delete(input.proposalId)
}

/** Those whose rows do not say yet what the fold says; after this commit they do. Open ones are few, whatever the history. */
function changedProposals(conversation: Conversation, books: Bookkeeping): OpenProposal[] {
  const rows = (books.proposals ??= new Map())
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
  /** Only where it changes a proposal too: that of its call, or any. */
  readonly withProposal?: true
  /** The row of the run only where that is paused behind it: that it goes on is what the row of its conversation says. */
  readonly ifPaused?: true
}

const NEITHER: ChangedRows = { head: false, run: false }
const HEAD: ChangedRows = { head: true, run: false }
const BOTH: ChangedRows = { head: true, run: true }
/** Of what a person has said to a run that was paused: mostly it goes on, and a row that is not written costs nothing. */
const DECIDED: ChangedRows = { head: true, run: true, ifPaused: true }

/**
 * Whether an event changes the rows of its conversation (`head`) and of its run. By event and not by comparing rows: a
 * run's row repeats what it has counted only when the run starts, pauses or ends.
 */
const table: { readonly [Type in EventType]: ChangedRows } = {
  conversation_started: HEAD,
  settings: HEAD,
  run_started: BOTH,
  message: NEITHER,
  step: NEITHER,
  tool_start: NEITHER,
  handed_over: BOTH,
  tool_end: { head: false, run: true, withProposal: true, ifPaused: true }, // with others still open it is paused again
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
    // What a program was waited for is there: the run goes on, or waits for the next.
    const goesOn = event.type === "tool_end" && event.by !== undefined
    // A title comes when the run is over, and is on its bill.
    const isPaid = event.type === "settings" && event.titledBy?.usage !== undefined
    const changed = goesOn || isPaid ? BOTH : table[event.type]
    if (changed.withProposal && !proposals.some(({ proposed }) => isAbout(event, proposed.callId))) continue
    head ||= changed.head
    run ||= changed.run && (!changed.ifPaused || pauseReason(conversation) !== undefined)
  }
  return { head, run }
}

const isAbout = (event: JournalEvent, callId: CallId): boolean => !("callId" in event) || event.callId === callId
