import { EVENT_COLUMNS } from "../event-rows.ts"
import { AUDIT_COLUMNS, type Commit, USAGE_COLUMNS } from "../operations.ts"
import type { Scalar } from "./wire-messages.ts"

/** The rows of one table that a commit writes. */
export interface CommitPart {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  rows(operation: Commit): readonly (readonly Scalar[])[]
  /** `from`: the lease and the rows to insert; `values`: their columns. */
  sql(from: string, values: string): string
}

const NONE: readonly never[] = []
const RUN_COLUMNS = `id, status, iteration, max_iterations, pause_reason, error_code, error_message, input_tokens,
  output_tokens, started_at, ended_at, model`
const PROPOSAL_COLUMNS = "id, run_id, position, status, code, expires_at, decided_by, decided_at"

/** Column names with their types, in order: `n` is a number, `t` a text. */
function columnsOf(names: string, types: string): CommitPart["columns"] {
  const all = names.split(",").map((name) => name.trim())
  return all.map((name, index) => ({ name, type: types[index] === "n" ? "bigint" : "text" }))
}

export const commitParts: readonly CommitPart[] = [
  {
    name: "events",
    columns: columnsOf(EVENT_COLUMNS, "ntnnttntttt"),
    rows: ({ events }) => events,
    sql: (from, values) =>
      `INSERT INTO event (conversation, ${EVENT_COLUMNS}) SELECT lease.key, ${values} FROM ${from}`,
  },
  {
    name: "runs",
    columns: columnsOf(RUN_COLUMNS, "ttnntttnnnnt"),
    rows: ({ runs }) => runs,
    sql: (from, values) => `INSERT INTO run (conversation, ${RUN_COLUMNS}) SELECT lease.key, ${values} FROM ${from}
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, iteration = excluded.iteration,
        pause_reason = excluded.pause_reason, error_code = excluded.error_code, error_message = excluded.error_message,
        input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, ended_at = excluded.ended_at,
        model = excluded.model`,
  },
  {
    name: "proposals",
    columns: columnsOf(PROPOSAL_COLUMNS, "ttnttntn"),
    rows: ({ proposals }) => proposals,
    sql: (
      from,
      values,
    ) => `INSERT INTO proposal (conversation, ${PROPOSAL_COLUMNS}) SELECT lease.key, ${values} FROM ${from}
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, code = excluded.code, decided_by = excluded.decided_by,
        decided_at = coalesce(proposal.decided_at, excluded.decided_at)`,
  },
  {
    name: "taken",
    columns: columnsOf("number", "n"),
    rows: ({ taken }) => (taken.length > 0 ? taken.map((number) => [number]) : NONE),
    sql: (from, value) =>
      `DELETE FROM inbox USING ${from} WHERE inbox.conversation = lease.key AND inbox.number = ${value}`,
  },
  // `ON CONFLICT` makes retries of a commit harmless.
  {
    name: "audits",
    columns: columnsOf(AUDIT_COLUMNS, "tttttttttttttntt"),
    rows: ({ audits }) => audits,
    sql: (from, values) => `INSERT INTO audit_entry (${AUDIT_COLUMNS}) SELECT ${values} FROM ${from}
      ON CONFLICT (id) DO NOTHING`,
  },
  {
    name: "usage",
    columns: columnsOf(USAGE_COLUMNS, "ttttttttnnnnt"),
    rows: ({ usage }) => usage,
    sql: (from, values) => `INSERT INTO usage (${USAGE_COLUMNS}) SELECT ${values} FROM ${from}
      ON CONFLICT (run, id) DO NOTHING`,
  },
]
