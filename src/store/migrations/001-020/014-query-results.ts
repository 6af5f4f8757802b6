import type { Migration } from "../migration.ts"

/** What queries brought, whole. `conversation` is NULL where a person asked by themselves. */
export const queryResults: Migration = {
  name: "014_query_results",
  statements: ({ clustered }) => [
    `CREATE TABLE query_result (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      connection TEXT NOT NULL,
      conversation TEXT,
      statement TEXT NOT NULL,
      result TEXT NOT NULL,
      size BIGINT NOT NULL,
      truncated BIGINT NOT NULL,
      hash TEXT NOT NULL,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX query_result_person ON query_result (person, created_at)",
    "CREATE INDEX query_result_conversation ON query_result (conversation)",
  ],
}
