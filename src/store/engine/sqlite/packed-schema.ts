import { EVENT_COLUMNS } from "../event-rows.ts"
import { AT, DIGITS, IS_PACKED, roles, types } from "./packed-events.ts"
import { sqlIsPacked } from "./packed-text.ts"
import { bodyPhrases, callPhrases } from "./phrases.ts"

/** Loaded by whoever has to make the schema step by step: a new file is made by what was printed of it. */

const sqlLong = (column: string, prefix: string): string =>
  `CASE WHEN ${IS_PACKED} AND length(${column}) = ${DIGITS} AND instr(${column}, '_') = 0 THEN ${prefix} || ${column} ELSE ${column} END`

const sqlCase = (column: string, entries: Iterable<readonly [string, string]>): string =>
  `CASE type ${[...entries].map(([letter, name]) => `WHEN '${letter}' THEN '${name}'`).join(" ")} ELSE ${column} END`

const BODIES = Object.entries(bodyPhrases)
  .map(([letter, phrases]) => `WHEN '${letter}' THEN ${phrases.sqlUnpacked("body")}`)
  .join(" ")

const VIEW = `CREATE VIEW event AS SELECT conversation, position, ${sqlCase("type", types)} AS type, version, ${AT} AS at,
  CASE WHEN type = 'a' AND message_id IS NULL AND tool_calls IS NOT NULL THEN 'msg_' || substr(tool_calls, 2, ${DIGITS})
    ELSE ${sqlLong("message_id", "CASE type WHEN 'r' THEN 'run_' ELSE 'msg_' END")} END AS message_id,
  ${sqlCase("role", Object.entries(roles))} AS role, seq, content,
  CASE WHEN ${sqlIsPacked("tool_calls")} THEN ${callPhrases.sqlUnpacked("tool_calls")} ELSE tool_calls END AS tool_calls,
  ${sqlLong("call_id", "'call_'")} AS call_id, CASE WHEN ${sqlIsPacked("body")} THEN CASE type ${BODIES} END ELSE body END AS body FROM event_row`

const columns = EVENT_COLUMNS.split(", ")
const NEW = columns.map((column) => `new.${column}`)
const PLACE = "conversation = old.conversation AND position = old.position"

/** What makes a table `event` into rows that are packed from now on, and a view that shows both. */
export const packedSchema: readonly string[] = [
  "DROP VIEW messages",
  "ALTER TABLE event RENAME TO event_row",
  VIEW,
  `CREATE TRIGGER event_added INSTEAD OF INSERT ON event BEGIN INSERT INTO event_row (conversation, ${EVENT_COLUMNS})
    VALUES (new.conversation, ${NEW.join(", ")}); END`,
  `CREATE TRIGGER event_changed INSTEAD OF UPDATE ON event BEGIN UPDATE event_row SET conversation = new.conversation,
    ${columns.map((column, index) => `${column} = ${NEW[index]}`).join(", ")} WHERE ${PLACE}; END`,
  `CREATE TRIGGER event_gone INSTEAD OF DELETE ON event BEGIN DELETE FROM event_row WHERE ${PLACE}; END`,
  `CREATE VIEW messages AS
    SELECT e.message_id AS id, c.id AS conversation_id, p.id AS user_id, e.role, e.seq, e.content, e.tool_calls,
      e.call_id AS tool_call_id, e.at AS created_at
    FROM event e JOIN conversation c ON c.key = e.conversation JOIN person p ON p.key = c.person
    WHERE e.role IS NOT NULL`,
  // What is usual of a conversation that waits, what a paused run usually waits for, and the run that a proposal's event stands in, are left out of their rows.
  "DROP VIEW conversations",
  `CREATE VIEW conversations AS
    SELECT c.id, p.id AS user_id, c.title, c.agent, c.provider, c.model, coalesce(nullif(c.mode, ''), 'confirm') AS mode,
      coalesce(nullif(c.status, ''), 'awaiting_confirmation') AS status, c.created_at, c.updated_at
    FROM conversation c JOIN person p ON p.key = c.person`,
  "DROP VIEW runs",
  `CREATE VIEW runs AS
    SELECT r.id, c.id AS conversation_id,
      CASE WHEN r.status = 'paused' AND c.status = 'running' THEN 'running' ELSE r.status END AS status,
      r.iteration, r.max_iterations,
      CASE WHEN r.status = 'paused' AND c.status = 'running' THEN NULL
        WHEN r.status = 'paused' THEN coalesce(r.pause_reason, 'awaiting_confirmation') END AS pause_reason,
      r.error_code, r.error_message, r.input_tokens, r.output_tokens, r.started_at, r.ended_at
    FROM run r JOIN conversation c ON c.key = r.conversation`,
  "DROP VIEW proposals",
  `CREATE VIEW proposals AS
    SELECT q.id, c.id AS conversation_id,
      CASE q.run_id WHEN '' THEN (SELECT e.message_id FROM event e WHERE e.conversation = q.conversation
        AND e.position < q.position AND e.type = 'run_started' ORDER BY e.position DESC LIMIT 1) ELSE q.run_id END AS run_id,
      q.status, q.code, q.expires_at, q.decided_by, q.decided_at
    FROM proposal q JOIN conversation c ON c.key = q.conversation`,
]
