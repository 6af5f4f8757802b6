import type { Migration } from "../migration.ts"

/**
 * A run that was paused and goes on is not written again before it pauses or ends: that it goes on is what its
 * conversation says in the same commit. Whoever reads the row of a run asks both.
 */
export const runsThatGoOn: Migration = {
  name: "050_runs_that_go_on",
  statements: ({ changeView }) =>
    changeView(
      "runs",
      `SELECT r.id, c.id AS conversation_id,
        CASE WHEN r.status = 'paused' AND c.status = 'running' THEN 'running' ELSE r.status END AS status,
        r.iteration, r.max_iterations,
        CASE WHEN r.status = 'paused' AND c.status = 'running' THEN NULL ELSE r.pause_reason END AS pause_reason,
        r.error_code, r.error_message, r.input_tokens, r.output_tokens, r.started_at, r.ended_at
      FROM run r JOIN conversation c ON c.key = r.conversation`,
    ),
}
