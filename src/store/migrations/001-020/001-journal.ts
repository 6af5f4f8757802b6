import type { Migration } from "../migration.ts"

/** People, their conversations with all that is in them, and who works on which. */
export const journal: Migration = {
  name: "001_journal",
  statements: ({ serialKey, clustered }) => [
    `CREATE TABLE person (
      key ${serialKey},
      id TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL UNIQUE,
      created_at BIGINT NOT NULL)`,
    `CREATE TABLE token (
      id TEXT NOT NULL PRIMARY KEY,
      person BIGINT NOT NULL REFERENCES person (key),
      hash TEXT NOT NULL UNIQUE,
      scopes TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      revoked_at BIGINT) ${clustered}`,
    // owner, fence: the lease. arrivals counts what ever came into the inbox, seen how much of it a writer has read.
    `CREATE TABLE conversation (
      key ${serialKey},
      id TEXT NOT NULL UNIQUE,
      person BIGINT NOT NULL,
      agent TEXT NOT NULL,
      model TEXT,
      provider TEXT,
      mode TEXT NOT NULL,
      title TEXT,
      status TEXT NOT NULL,
      owner TEXT,
      fence BIGINT NOT NULL,
      arrivals BIGINT NOT NULL DEFAULT 0,
      seen BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL)`,
    "CREATE INDEX conversation_person ON conversation (person, key)",
    // Only what may need a writer: the sweep looks at nothing else.
    "CREATE INDEX conversation_open ON conversation (key) WHERE owner IS NOT NULL OR arrivals <> seen",
    // What a message needs has columns of its own, so that `messages` is a plain view. Where a run starts, `message_id`
    // is the run's id: the runs of a conversation are found through its journal.
    `CREATE TABLE event (
      conversation BIGINT NOT NULL,
      position BIGINT NOT NULL,
      type TEXT NOT NULL,
      version BIGINT NOT NULL,
      at BIGINT NOT NULL,
      message_id TEXT,
      role TEXT,
      seq BIGINT,
      content TEXT,
      tool_calls TEXT,
      call_id TEXT,
      body TEXT)`,
    "CREATE UNIQUE INDEX event_place ON event (conversation, position)",
    `CREATE TABLE inbox (
      conversation BIGINT NOT NULL,
      number BIGINT NOT NULL,
      id TEXT NOT NULL,
      body TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (conversation, number)) ${clustered}`,
    `CREATE TABLE run (
      id TEXT NOT NULL PRIMARY KEY,
      conversation BIGINT NOT NULL,
      status TEXT NOT NULL,
      iteration BIGINT NOT NULL,
      max_iterations BIGINT NOT NULL,
      pause_reason TEXT,
      error_code TEXT,
      error_message TEXT,
      input_tokens BIGINT,
      output_tokens BIGINT,
      started_at BIGINT NOT NULL,
      ended_at BIGINT) ${clustered}`,
    // The words of a proposal stand in its event; this row is where racing decisions meet.
    `CREATE TABLE proposal (
      id TEXT NOT NULL PRIMARY KEY,
      conversation BIGINT NOT NULL,
      run_id TEXT NOT NULL,
      position BIGINT NOT NULL,
      status TEXT NOT NULL,
      code TEXT,
      expires_at BIGINT NOT NULL,
      decided_by TEXT,
      decided_at BIGINT) ${clustered}`,
    "CREATE INDEX proposal_open ON proposal (conversation) WHERE status IN ('pending', 'applying', 'in_doubt')",
    `CREATE TABLE node (
      id TEXT NOT NULL PRIMARY KEY,
      expires_at BIGINT NOT NULL,
      locked BIGINT NOT NULL) ${clustered}`,
    `CREATE VIEW conversations AS
      SELECT c.id, p.id AS user_id, c.title, c.agent, c.provider, c.model, c.mode, c.status, c.created_at, c.updated_at
      FROM conversation c JOIN person p ON p.key = c.person`,
    `CREATE VIEW messages AS
      SELECT e.message_id AS id, c.id AS conversation_id, p.id AS user_id, e.role, e.seq, e.content, e.tool_calls,
        e.call_id AS tool_call_id, e.at AS created_at
      FROM event e JOIN conversation c ON c.key = e.conversation JOIN person p ON p.key = c.person
      WHERE e.role IS NOT NULL`,
    `CREATE VIEW runs AS
      SELECT r.id, c.id AS conversation_id, r.status, r.iteration, r.max_iterations, r.pause_reason, r.error_code,
        r.error_message, r.input_tokens, r.output_tokens, r.started_at, r.ended_at
      FROM run r JOIN conversation c ON c.key = r.conversation`,
    `CREATE VIEW proposals AS
      SELECT q.id, c.id AS conversation_id, q.run_id, q.status, q.code, q.expires_at, q.decided_by, q.decided_at
      FROM proposal q JOIN conversation c ON c.key = q.conversation`,
  ],
}
