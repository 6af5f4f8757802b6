import type { Migration } from "../migration.ts"

/**
 * Where people stand with MCP servers that want a sign-in: one row for a person and a server, with the tokens sealed to it.
 * `version` is another one after every change of what is in it, and stays when it is put under another key. Whoever renews
 * the tokens says until when, so that no second one does it meanwhile. A sign-in under way is a row of its own, once.
 */
export const mcpSignIns: Migration = {
  name: "048_mcp_sign_ins",
  statements: ({ clustered }) => [
    `CREATE TABLE mcp_sign_in (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      server TEXT NOT NULL,
      state TEXT NOT NULL,
      version TEXT NOT NULL,
      renewed_until BIGINT NOT NULL,
      key_id TEXT NOT NULL,
      sealed TEXT NOT NULL,
      updated_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX mcp_sign_in_person ON mcp_sign_in (person)",
    `CREATE TABLE mcp_sign_in_attempt (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      server TEXT NOT NULL,
      hash TEXT NOT NULL,
      key_id TEXT NOT NULL,
      sealed TEXT NOT NULL,
      expires_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX mcp_sign_in_attempt_person ON mcp_sign_in_attempt (person)",
    "CREATE INDEX mcp_sign_in_attempt_expires ON mcp_sign_in_attempt (expires_at)",
    "ALTER TABLE mcp_tool ADD COLUMN again BIGINT NOT NULL DEFAULT 0",
  ],
}
