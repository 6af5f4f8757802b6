import { signIn } from "./003-sign-in.ts"
import { audit } from "./004-audit.ts"
import { secretsAndUsage } from "./005-secrets-and-usage.ts"
import { deaths } from "./022-deaths.ts"
import { deliveries } from "./006-deliveries.ts"
import { messageKeys } from "./007-message-keys.ts"
import { devices } from "./008-devices.ts"
import { appliedCallPerson } from "./009-applied-call-person.ts"
import { noteVectors } from "./011-note-vectors.ts"
import { workspace } from "./010-workspace.ts"
import { connections } from "./013-connections.ts"
import { conversationConnection } from "./014-conversation-connection.ts"
import { queryResults } from "./014-query-results.ts"
import { library } from "./016-library.ts"
import { tokenLineage } from "./019-token-lineage.ts"
import { deviceOwners } from "./021-device-owners.ts"
import { lastConversation } from "./024-last-conversation.ts"
import { pageSecrets } from "./023-page-secrets.ts"
import { embeddingClaims } from "./028-embedding-claims.ts"
import { noteClaims } from "./029-note-claims.ts"
import { tablesOfPacks } from "./030-tables-of-packs.ts"
import { documentHash } from "./027-document-hash.ts"
import { passageGrams } from "./025-passage-grams.ts"
import { days } from "./026-days.ts"
import { seenProposals } from "./020-seen-proposals.ts"
import { statementAttempts } from "./015-statement-attempts.ts"
import { nodeBeats } from "./017-node-beats.ts"
import { erasedIdentities } from "./018-erased-identities.ts"

/**
 * The schema, step by step: numbered, append-only, each safe to be killed in (one transaction). Plain SQL that both
 * engines read alike; the few words on which they differ come from `Words`.
 */
export interface Words {
  /** A key the database counts up by itself. */
  readonly serialKey: string
  /** Written behind a table that is stored in the order of its primary key, where the engine can. */
  readonly clustered: string
  /** Makes the words of the table `passage` findable, and keeps them so by itself. */
  readonly fullText: readonly string[]
  /** The same for its `grams`. */
  readonly grams: readonly string[]
}

export interface Migration {
  readonly name: string
  statements(words: Words): string[]
}

export const migrations: readonly Migration[] = [
  {
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
  },
  {
    name: "002_tasks",
    statements: ({ clustered }) => [
      `CREATE TABLE task (
        id TEXT NOT NULL PRIMARY KEY,
        person TEXT NOT NULL,
        title TEXT NOT NULL,
        description TEXT,
        status TEXT NOT NULL,
        priority TEXT NOT NULL,
        project_id TEXT,
        assignee TEXT,
        due_date BIGINT,
        is_ai_suggested BIGINT NOT NULL DEFAULT 0,
        is_approved BIGINT NOT NULL DEFAULT 1,
        created_at BIGINT NOT NULL) ${clustered}`,
      "CREATE INDEX task_person ON task (person, id)",
      // Written in the same transaction as the effect of a call: whoever asks later learns whether it happened.
      `CREATE TABLE applied_call (
        call_id TEXT NOT NULL PRIMARY KEY,
        answer TEXT NOT NULL,
        at BIGINT NOT NULL) ${clustered}`,
    ],
  },
  signIn,
  audit,
  secretsAndUsage,
  deliveries,
  messageKeys,
  devices,
  appliedCallPerson,
  workspace,
  noteVectors,
  connections,
  conversationConnection,
  queryResults,
  statementAttempts,
  library,
  nodeBeats,
  erasedIdentities,
  tokenLineage,
  seenProposals,
  deviceOwners,
  deaths,
  pageSecrets,
  lastConversation,
  passageGrams,
  days,
  documentHash,
  embeddingClaims,
  noteClaims,
  tablesOfPacks,
]
