import type { EventRow } from "./event-rows.ts"

/**
 * What the engines are asked to do, as plain data: one operation is one atomic change. Plain, because on SQLite it
 * travels to the writer thread, and many of them share one commit there.
 */
export type Operation = Commit | InboxAppend | Statements

/** Appends events, under the lease, and mirrors them in the tables. */
export interface Commit {
  readonly type: "commit"
  readonly lease: "create" | "claim" | "hold"
  /** The conversation's key; for `create` it is not known yet. */
  readonly key: number
  readonly node: string
  readonly now: number
  /** The fence the caller knows: must still be the newest. */
  readonly fence: number
  /** How much of the inbox the caller has read. */
  readonly seen: number
  /** claim: also while unread input waits. */
  readonly withInbox: boolean
  readonly release: boolean
  readonly head: HeadRow | null
  /** Only for `create`. */
  readonly born: { readonly id: string; readonly person: number } | null
  /** Where the journal ends in the caller's fold, without these events. */
  readonly after: number
  readonly events: readonly EventRow[]
  /** One, where any; two where the words that begin one end another; all that a fork begins with. */
  readonly runs: readonly RunValues[]
  readonly proposals: readonly ProposalRow[]
  readonly audits: readonly AuditRow[]
  /** What the model calls behind these events have used. */
  readonly usage: readonly UsageRow[]
  /** Numbers of inbox rows that have become these events. */
  readonly taken: readonly number[]
  readonly deciding: DecisionCondition | null
}

export interface HeadRow {
  readonly agent: string
  readonly model: string | null
  readonly provider: string | null
  readonly mode: string
  readonly title: string | null
  readonly status: string
  readonly device: string | null
  readonly connection: string | null
  readonly settings: string | null
}

export type RunValues = [
  id: string,
  status: string,
  iteration: number,
  maxIterations: number,
  pauseReason: string | null,
  errorCode: string | null,
  errorMessage: string | null,
  inputTokens: number | null,
  outputTokens: number | null,
  startedAt: number,
  endedAt: number | null,
  model: string | null,
]

export type ProposalRow = [
  id: string,
  runId: string,
  position: number,
  status: string,
  code: string | null,
  expiresAt: number,
  decidedBy: string | null,
  decidedAt: number | null,
]

/** The columns of `audit_entry`, in order. */
export type AuditRow = [
  id: string,
  conversationId: string,
  userId: string,
  runId: string,
  callId: string,
  proposalId: string,
  tool: string,
  action: string,
  summary: string,
  input: string,
  before: string,
  after: string,
  decidedBy: string,
  appliedAt: number,
  inverse: string | null,
  undoes: string | null,
]

export const AUDIT_COLUMNS = `id, conversation_id, user_id, run_id, call_id, proposal_id, tool, action, summary, arguments,
  before, after, decided_by, applied_at, inverse, undoes`
export type UsageRow = [
  run: string,
  id: string,
  conversation: string,
  person: string,
  model: string,
  provider: string,
  paidBy: string,
  day: string,
  inputTokens: number | null,
  outputTokens: number | null,
  cachedTokens: number | null,
  /** Millionths of a dollar. */
  cost: number | null,
]

export const USAGE_COLUMNS =
  "run, id, conversation, person, model, provider, paid_by, day, input_tokens, output_tokens, cached_tokens, cost"

/** The condition is the lock: of any number of racing callers exactly one finds the proposal in the state it needs. */
export interface DecisionCondition {
  readonly proposal: string
  /** `expired` is also one that is still `pending` after its time: nothing rings when that comes. */
  readonly from: "pending" | "in_doubt" | "expired"
  readonly to: string
  readonly by: string
}

/** Keeps an input in the inbox of a conversation, whoever its writer is. */
export interface InboxAppend {
  readonly type: "inbox"
  readonly key: number
  readonly id: string
  readonly body: string
  readonly now: number
  readonly deciding: DecisionCondition | null
}

/** Any other change: all of it or none. A statement that must change rows and changes none undoes the whole. */
export interface Statements {
  readonly type: "statements"
  readonly statements: readonly Statement[]
  /** `long` where a statement takes as long as there is data: nobody takes its silence for that of a dead database. */
  readonly patience?: "long"
  /**
   * How long to wait for a lock, where others may hold one. Whoever waits for a table as a whole has everybody behind it
   * who comes later, also those that only read: it gives up, rejects, and lets them pass.
   */
  readonly lockMs?: number
}

export interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
  readonly mustChange?: boolean
}

/**
 * `moved`: the caller's fold is old. `busy`: a living writer holds it. `lost`: it was mine and is no longer. `unread`:
 * something has happened in the inbox since it was read, and what was to be taken from it may be something else now.
 */
export type Refusal = "moved" | "busy" | "lost" | "decided" | "unread"

export interface Committed {
  readonly key: number
  readonly fence: number
  readonly arrivals: number
  readonly released: boolean
}

export type OperationOutcome =
  | { readonly ok: true; readonly committed: Committed }
  | { readonly ok: true; readonly arrived: number }
  | { readonly ok: true; readonly rows: Record<string, unknown>[][] }
  | { readonly ok: false; readonly refused: Refusal }
