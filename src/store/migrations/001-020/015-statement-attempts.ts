import type { Migration } from "../migration.ts"

/** Tries to change a database of a person: written before the database is told to commit, so that it can be asked later. */
export const statementAttempts: Migration = {
  name: "015_statement_attempts",
  statements: ({ clustered }) => [
    `CREATE TABLE statement_attempt (
      call_id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      connection_id TEXT NOT NULL,
      holder TEXT,
      mark TEXT,
      answer TEXT,
      at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX statement_attempt_person ON statement_attempt (person)",
  ],
}
