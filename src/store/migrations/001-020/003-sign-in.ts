import type { Migration } from "../migration.ts"

/** What people come in with besides tokens. Every `hash` is SHA-256 of a secret that we show once and do not keep. */
export const signIn: Migration = {
  name: "003_sign_in",
  statements: ({ clustered }) => [
    "ALTER TABLE token ADD COLUMN name TEXT",
    "CREATE INDEX token_person ON token (person, created_at)",
    `CREATE TABLE sign_in_link (
      hash TEXT NOT NULL PRIMARY KEY,
      person BIGINT NOT NULL REFERENCES person (key),
      scopes TEXT NOT NULL,
      expires_at BIGINT NOT NULL) ${clustered}`,
    // Whoever signs out takes the row along; a revoked one stays, so that the runs it started are found and stopped.
    `CREATE TABLE session (
      id TEXT NOT NULL PRIMARY KEY,
      person BIGINT NOT NULL REFERENCES person (key),
      hash TEXT NOT NULL UNIQUE,
      scopes TEXT NOT NULL,
      browser TEXT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      revoked_at BIGINT) ${clustered}`,
    "CREATE INDEX session_person ON session (person, created_at)",
    // The credential that asked for the ticket: what the ticket opens closes with it.
    `CREATE TABLE ticket (
      hash TEXT NOT NULL PRIMARY KEY,
      person BIGINT NOT NULL REFERENCES person (key),
      scopes TEXT NOT NULL,
      credential TEXT NOT NULL,
      credential_expires_at BIGINT,
      expires_at BIGINT NOT NULL) ${clustered}`,
  ],
}
