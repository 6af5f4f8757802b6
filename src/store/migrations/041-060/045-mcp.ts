import type { Migration } from "../migration.ts"

/**
 * MCP servers that people have named, with how they are reached sealed to its row; and what is known of the tools of every
 * server: as somebody has agreed to them, and as they were last seen. Those of the operator's servers are nobody's.
 */
export const mcp: Migration = {
  name: "045_mcp",
  statements: ({ clustered }) => [
    `CREATE TABLE mcp_server (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      name TEXT NOT NULL,
      agents TEXT NOT NULL,
      key_id TEXT NOT NULL,
      sealed TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL) ${clustered}`,
    "CREATE UNIQUE INDEX mcp_server_name ON mcp_server (person, name)",
    `CREATE TABLE mcp_tool (
      server TEXT NOT NULL,
      tool TEXT NOT NULL,
      person TEXT,
      agreed_hash TEXT,
      agreed TEXT,
      seen_hash TEXT NOT NULL,
      seen TEXT NOT NULL,
      rule TEXT,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (server, tool)) ${clustered}`,
    "CREATE INDEX mcp_tool_person ON mcp_tool (person)",
  ],
}
