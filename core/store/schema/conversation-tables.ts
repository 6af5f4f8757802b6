import { partitionedEvent } from "../engine/schema-syntax.ts"
import type { SchemaSyntax } from "../engine/schema-syntax.ts"

/** Conversations, the journal of each, its writer, and the nodes that share the database. */
export const conversationTables = ({ serialKey, clustered, unlogged, uncompressed, partition }: SchemaSyntax) => [
  // `owner` and `fence` are the lease. `arrivals` counts the inputs that reached the inbox, `seen` those that a writer has
  // read. `device` names the device with the workspace: NULL is the server, '' a device without a name. `connection` is the
  // database that the conversation works on; it may be gone. `settings` is how the model is to reply, as JSON.
  `CREATE TABLE conversation (
    key ${serialKey}, id TEXT NOT NULL UNIQUE, person BIGINT NOT NULL, agent TEXT NOT NULL, model TEXT, provider TEXT,
    mode TEXT NOT NULL, title TEXT, status TEXT NOT NULL, owner TEXT, fence BIGINT NOT NULL,
    arrivals BIGINT NOT NULL DEFAULT 0, seen BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, device TEXT, connection TEXT, settings TEXT)`,
  "CREATE INDEX conversation_person ON conversation (person, key)",
  // Only conversations that may need a writer: the sweep reads nothing else.
  "CREATE INDEX conversation_open ON conversation (key) WHERE owner IS NOT NULL OR arrivals <> seen",

  // The journal. The fields of a message have columns of their own, so that `messages` is a plain view. In `run_started`,
  // `message_id` is the id of the run: the runs of a conversation are found through its journal.
  `CREATE TABLE event (
    conversation BIGINT NOT NULL, position BIGINT NOT NULL, type TEXT NOT NULL, version BIGINT NOT NULL, at BIGINT NOT NULL,
    message_id TEXT, role TEXT, seq BIGINT, content TEXT, tool_calls TEXT, call_id TEXT, body TEXT)${partition.by(partitionedEvent)}`,
  ...partition.first(partitionedEvent),
  "CREATE UNIQUE INDEX event_place ON event (conversation, position)",

  // Input that waits for the writer of its conversation.
  `CREATE TABLE inbox (
    conversation BIGINT NOT NULL, number BIGINT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (conversation, number)) ${clustered}`,
  // A run that was paused and continues is not written again before it pauses or ends; a run that is paused for the usual
  // reason does not store the reason. The view `runs` adds both.
  `CREATE TABLE run (
    id TEXT NOT NULL PRIMARY KEY, conversation BIGINT NOT NULL, status TEXT NOT NULL, iteration BIGINT NOT NULL,
    max_iterations BIGINT NOT NULL, pause_reason TEXT, error_code TEXT, error_message TEXT, input_tokens BIGINT,
    output_tokens BIGINT, started_at BIGINT NOT NULL, ended_at BIGINT, model TEXT) ${clustered}`,
  // The content of a proposal is in its event. Racing decisions meet in this row. `person` is set by the next listing;
  // `seen_at` is when the person saw that the proposal expired.
  `CREATE TABLE proposal (
    id TEXT NOT NULL PRIMARY KEY, conversation BIGINT NOT NULL, run_id TEXT NOT NULL, position BIGINT NOT NULL,
    status TEXT NOT NULL, code TEXT, expires_at BIGINT NOT NULL, decided_by TEXT, decided_at BIGINT, seen_at BIGINT,
    person BIGINT) ${clustered}`,
  "CREATE INDEX proposal_lapsed ON proposal (conversation) WHERE status = 'expired'",
  "CREATE INDEX proposal_doubtful ON proposal (conversation) WHERE status = 'in_doubt'",
  "CREATE INDEX proposal_person ON proposal (person, expires_at, id) WHERE person IS NOT NULL",
  `CREATE INDEX proposal_unseen ON proposal (person, expires_at, id)
    WHERE person IS NOT NULL AND status IN ('pending', 'expired') AND seen_at IS NULL`,
  // Nearly every new proposal is both open and without a person, so one index serves both questions.
  `CREATE INDEX proposal_at_hand ON proposal (person, conversation)
    WHERE status IN ('pending', 'applying', 'in_doubt') OR person IS NULL`,
  // One snapshot of the state of a long conversation, made from the journal and replaced if it does not fit. ON UPDATE,
  // because erasing on SQLite changes the key of the newest conversation.
  `CREATE TABLE kept_fold (
    conversation BIGINT NOT NULL PRIMARY KEY REFERENCES conversation (key) ON DELETE CASCADE ON UPDATE CASCADE,
    position BIGINT NOT NULL, version TEXT NOT NULL, body TEXT NOT NULL)`,
  ...uncompressed("kept_fold", "body"),
  // Which message an idempotency key stands for, so that a request sent twice is one message.
  `CREATE TABLE message_key (
    conversation BIGINT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, message_id TEXT NOT NULL,
    created_at BIGINT NOT NULL, PRIMARY KEY (conversation, key)) ${clustered}`,
  // A webhook call for each event that added proposals. `due_at` is the next attempt; an attempt that dies is due then.
  `CREATE TABLE delivery (
    conversation BIGINT NOT NULL, position BIGINT NOT NULL, attempts BIGINT NOT NULL, due_at BIGINT NOT NULL,
    ended_at BIGINT, PRIMARY KEY (conversation, position)) ${clustered}`,
  // Links to runs. Only the hash of the secret is stored.
  `CREATE TABLE shared_run (
    id TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL, person BIGINT NOT NULL, conversation BIGINT NOT NULL,
    run TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT) ${clustered}`,
  "CREATE UNIQUE INDEX shared_run_hash ON shared_run (hash)",
  "CREATE INDEX shared_run_person ON shared_run (person)",
  "CREATE INDEX shared_run_conversation ON shared_run (conversation)",
  "CREATE INDEX shared_run_expires ON shared_run (expires_at)",

  // Every applied write, with ids as text, so that plain SQL reads it without another table. Rows never change: the row of
  // an undo says what it undid. Long texts are the last columns of a table, and such a table has row ids: SQLite reaches a
  // column only through all bytes of the columns before it.
  `CREATE TABLE audit_entry (
    id TEXT NOT NULL PRIMARY KEY, conversation_id TEXT NOT NULL, user_id TEXT NOT NULL, run_id TEXT NOT NULL,
    call_id TEXT NOT NULL, proposal_id TEXT NOT NULL, tool TEXT NOT NULL, action TEXT NOT NULL, decided_by TEXT NOT NULL,
    applied_at BIGINT NOT NULL, undoes TEXT, summary TEXT NOT NULL, arguments TEXT NOT NULL, before TEXT NOT NULL,
    after TEXT NOT NULL, inverse TEXT)`,
  "CREATE INDEX audit_entry_person ON audit_entry (user_id, applied_at, id)",
  "CREATE INDEX audit_entry_undo ON audit_entry (undoes) WHERE undoes IS NOT NULL",
  // Written in the transaction of the effect, so that a later question learns whether the call had its effect.
  "CREATE TABLE applied_call (call_id TEXT NOT NULL PRIMARY KEY, person TEXT, at BIGINT NOT NULL, answer TEXT NOT NULL)",
  "CREATE INDEX applied_call_person ON applied_call (person)",

  // A model call each. `id` is the message that it returned, or the reservation if it returned none. Costs are millionths of
  // a dollar, NULL if the price is not known.
  `CREATE TABLE usage (
    run TEXT NOT NULL, id TEXT NOT NULL, conversation TEXT NOT NULL, person TEXT NOT NULL, model TEXT NOT NULL,
    provider TEXT NOT NULL, paid_by TEXT NOT NULL, day TEXT NOT NULL, input_tokens BIGINT, output_tokens BIGINT,
    cached_tokens BIGINT, cost BIGINT, PRIMARY KEY (run, id)) ${clustered}`,
  "CREATE INDEX usage_person ON usage (person, day)",
  "CREATE INDEX usage_conversation ON usage (conversation)",
  // Sums of `usage` for days that are over, made when someone first asks for the day.
  `CREATE TABLE usage_day (
    person TEXT NOT NULL, day TEXT NOT NULL, conversation TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL,
    paid_by TEXT NOT NULL, calls BIGINT NOT NULL, input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL, cost BIGINT NOT NULL, unpriced BIGINT NOT NULL,
    PRIMARY KEY (person, day, conversation, model, provider, paid_by)) ${clustered}`,
  `CREATE TABLE usage_summed (person TEXT NOT NULL, day TEXT NOT NULL, PRIMARY KEY (person, day)) ${clustered}`,
  // The row of a person that concurrent reservations lock.
  "CREATE TABLE budget (person TEXT NOT NULL PRIMARY KEY)",
  // The reserved cost of a model call, at most one for each conversation, because a conversation has one writer.
  `CREATE TABLE reservation (
    conversation TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL, person TEXT NOT NULL, cost BIGINT NOT NULL,
    expires_at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX reservation_person ON reservation (person)",

  // A node counts its heartbeats, because an expiry time would be compared with the clock of another machine. `since`,
  // `signed_at` (times of the database) and `own_time` are shown to operators and decide nothing. `events_known` tells
  // newer nodes from older ones.
  `CREATE TABLE node (
    id TEXT NOT NULL PRIMARY KEY, locked BIGINT NOT NULL, beats BIGINT NOT NULL DEFAULT 0, since BIGINT, signed_at BIGINT,
    own_time BIGINT, events_known BIGINT) ${clustered}`,
  // The verdict of the first node that found another one failed. Nodes that recover its conversations follow it.
  `CREATE TABLE death (node TEXT NOT NULL PRIMARY KEY, judged TEXT NOT NULL) ${clustered}`,
  // Which node is about to recover a conversation, so that not all of them read it.
  `CREATE TABLE earmark (conversation BIGINT NOT NULL PRIMARY KEY, node TEXT NOT NULL) ${clustered}`,
  // Messages between nodes. Losing one is harmless, so PostgreSQL does not log the table.
  `CREATE ${unlogged}TABLE node_mail (
    number ${serialKey}, addressee TEXT NOT NULL REFERENCES node (id) ON DELETE CASCADE, sender TEXT NOT NULL,
    size BIGINT NOT NULL, body TEXT NOT NULL)`,
  "CREATE INDEX node_mail_addressee ON node_mail (addressee, number)",
  // Rate limits of all nodes together: when the bucket of a caller is full again.
  `CREATE TABLE bucket (
    kind TEXT NOT NULL, who TEXT NOT NULL, full_at DOUBLE PRECISION NOT NULL, changed_at BIGINT NOT NULL,
    PRIMARY KEY (kind, who)) ${clustered}`,
  "CREATE INDEX bucket_changed ON bucket (changed_at)",
]

/** Views for SQL clients: `docs/reference/sql.md`. */
export const conversationViews = [
  `CREATE VIEW conversations AS
    SELECT c.id, p.id AS user_id, c.title, c.agent, c.provider, c.model, c.mode, c.status, c.created_at, c.updated_at
    FROM conversation c JOIN person p ON p.key = c.person`,
  `CREATE VIEW messages AS
    SELECT e.message_id AS id, c.id AS conversation_id, p.id AS user_id, e.role, e.seq, e.content, e.tool_calls,
      e.call_id AS tool_call_id, e.at AS created_at
    FROM event e JOIN conversation c ON c.key = e.conversation JOIN person p ON p.key = c.person
    WHERE e.role IS NOT NULL`,
  `CREATE VIEW runs AS
    SELECT r.id, c.id AS conversation_id,
      CASE WHEN r.status = 'paused' AND c.status = 'running' THEN 'running' ELSE r.status END AS status,
      r.iteration, r.max_iterations,
      CASE WHEN r.status = 'paused' AND c.status <> 'running' THEN coalesce(r.pause_reason, 'awaiting_confirmation')
        END AS pause_reason,
      r.error_code, r.error_message, r.input_tokens, r.output_tokens, r.started_at, r.ended_at
    FROM run r JOIN conversation c ON c.key = r.conversation`,
  `CREATE VIEW proposals AS
    SELECT q.id, c.id AS conversation_id, q.run_id, q.status, q.code, q.expires_at, q.decided_by, q.decided_at
    FROM proposal q JOIN conversation c ON c.key = q.conversation`,
  `CREATE VIEW audit AS
    SELECT a.id, a.conversation_id, a.user_id, a.run_id, a.call_id, a.proposal_id, a.tool, a.action, a.summary,
      a.arguments, a.before, a.after, a.decided_by, a.applied_at, a.inverse, a.undoes,
      (SELECT min(u.proposal_id) FROM audit_entry u WHERE u.undoes = a.id) AS undone_by
    FROM audit_entry a`,
]
