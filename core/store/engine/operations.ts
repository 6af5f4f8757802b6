import type { EventRow } from "./event-rows.ts"

/**
 * The operations of an engine as plain data: one operation is one atomic change, and on SQLite several share one
 * commit.
 */
export type Operation = Commit | InboxAppend | Statements

/** Appends events under the lease, and updates the tables that mirror them. */
export interface Commit {
  readonly type: "commit"
  readonly lease: "create" | "claim" | "hold"
  /** The conversation's key; 0 for `create`. */
  readonly key: number
  readonly node: string
  readonly now: number
  /** The fence that the caller knows, which must still be the newest. */
  readonly fence: number
  /** How much of the inbox the caller has read. */
  readonly seen: number
  /** For `claim`: also if there is unread input. */
  readonly withInbox: boolean
  readonly release: boolean
  readonly head: HeadRow | null
  /** Only for `create`. */
  readonly born: { readonly id: string; readonly person: number } | null
  /** The last position of the journal in the caller's state, before these events. */
  readonly after: number
  readonly events: readonly EventRow[]
  /** Usually one; two if a message ends one run and starts another; all runs of a fork. */
  readonly runs: readonly RunValues[]
  readonly proposals: readonly ProposalRow[]
  readonly audits: readonly AuditRow[]
  /** The usage of the model calls of these events. */
  readonly usage: readonly UsageRow[]
  /** Numbers of the inbox rows that became these events. */
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
  /** In millionths of a dollar. */
  cost: number | null,
  rootRun: string | null,
]

export const USAGE_COLUMNS =
  "run, id, conversation, person, model, provider, paid_by, day, input_tokens, output_tokens, cached_tokens, cost, root_run"

/** The condition is the lock: of several racing callers exactly one finds the proposal in the required state. */
export interface DecisionCondition {
  readonly proposal: string
  /** `expired` includes a proposal that is still `pending` after its time, because no timer changes it. */
  readonly from: "pending" | "in_doubt" | "expired"
  readonly to: string
  readonly by: string
}

/** Adds an input to the inbox of a conversation, whichever node is its writer. */
export interface InboxAppend {
  readonly type: "inbox"
  readonly key: number
  readonly id: string
  readonly body: string
  readonly now: number
  readonly deciding: DecisionCondition | null
}

/** Any other change, all or nothing. If a statement with `mustChange` changes no row, everything is undone. */
export interface Statements {
  readonly type: "statements"
  readonly statements: readonly Statement[]
  /** `long` if the duration depends on the amount of data, so that silence is not taken for a failed database. */
  readonly patience?: "long"
  /**
   * How long to wait for a lock. A statement that waits for a whole table blocks everyone after it, readers too, so it
   * gives up and rejects.
   */
  readonly lockMs?: number
}

export interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
  readonly mustChange?: boolean
}

/**
 * `moved`: the caller's state is out of date. `busy`: another live writer holds the lease. `lost`: the caller no longer
 *   holds it. `unread`: the inbox has changed since it was read, so the consumed input may be different now.
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
