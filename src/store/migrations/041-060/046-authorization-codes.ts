import type { Migration } from "../migration.ts"

/**
 * What a person's consent makes for a program: a code with all that it is bound to, of which only hashes are kept where it is
 * a secret, and the token that it was exchanged for.
 */
export const authorizationCodes: Migration = {
  name: "046_authorization_codes",
  statements: ({ clustered }) => [
    `CREATE TABLE authorization_code (
      hash TEXT NOT NULL PRIMARY KEY,
      person BIGINT NOT NULL,
      scopes TEXT NOT NULL,
      name TEXT NOT NULL,
      client TEXT NOT NULL,
      redirect TEXT NOT NULL,
      challenge TEXT NOT NULL,
      resource TEXT NOT NULL,
      token TEXT,
      expires_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX authorization_code_person ON authorization_code (person)",
    "CREATE INDEX authorization_code_expires ON authorization_code (expires_at)",
  ],
}
