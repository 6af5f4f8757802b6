import type { Migration } from "../migration.ts"

/**
 * The two indexes that one has taken the place of; a node of the version before answers without them, only later. And a run
 * that is paused for the usual reason does not repeat it: its row may wait for weeks, among thousands.
 */
export const fewerBytesOfWhatWaits: Migration = {
  name: "061_fewer_bytes_of_what_waits",
  statements: ({ changeView }) => [
    "DROP INDEX IF EXISTS proposal_open",
    "DROP INDEX IF EXISTS proposal_without_owner",
    ...changeView(
      "runs",
      `SELECT r.id, c.id AS conversation_id,
        CASE WHEN r.status = 'paused' AND c.status = 'running' THEN 'running' ELSE r.status END AS status,
        r.iteration, r.max_iterations,
        CASE WHEN r.status = 'paused' AND c.status <> 'running' THEN coalesce(r.pause_reason, 'awaiting_confirmation')
          END AS pause_reason,
        r.error_code, r.error_message, r.input_tokens, r.output_tokens, r.started_at, r.ended_at
      FROM run r JOIN conversation c ON c.key = r.conversation`,
    ),
  ],
}
