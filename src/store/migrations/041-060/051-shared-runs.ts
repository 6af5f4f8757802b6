import type { Migration } from "../migration.ts"

/** Links to runs that people have made for others. Of the secret only its hash is kept. */
export const sharedRuns: Migration = {
  name: "051_shared_runs",
  statements: ({ clustered }) => [
    `CREATE TABLE shared_run (
      id TEXT NOT NULL PRIMARY KEY,
      hash TEXT NOT NULL,
      person BIGINT NOT NULL,
      conversation BIGINT NOT NULL,
      run TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT) ${clustered}`,
    "CREATE UNIQUE INDEX shared_run_hash ON shared_run (hash)",
    "CREATE INDEX shared_run_person ON shared_run (person)",
    "CREATE INDEX shared_run_conversation ON shared_run (conversation)",
    "CREATE INDEX shared_run_expires ON shared_run (expires_at)",
  ],
}
