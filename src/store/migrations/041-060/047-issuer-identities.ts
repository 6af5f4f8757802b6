import type { Migration } from "../migration.ts"

/**
 * Who somebody is at an issuer that people sign in with. The id is a hash of the issuer and its subject, never a name or a mail address, which change hands.
 * `called` is how the issuer calls a person who is known by it alone. A sign-in under way is kept as a hash, of nobody yet.
 */
export const issuerIdentities: Migration = {
  name: "047_issuer_identities",
  statements: ({ clustered }) => [
    `CREATE TABLE issuer_identity (
      id TEXT NOT NULL PRIMARY KEY,
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      person BIGINT NOT NULL,
      name TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      signed_in_at BIGINT NOT NULL) ${clustered}`,
    // Nobody is two people of one issuer: the second who asks to be a person here is refused.
    "CREATE UNIQUE INDEX issuer_identity_person ON issuer_identity (person, issuer)",
    `CREATE TABLE sign_in_attempt (hash TEXT NOT NULL PRIMARY KEY, expires_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX sign_in_attempt_expires ON sign_in_attempt (expires_at)",
    "ALTER TABLE person ADD COLUMN called TEXT",
  ],
}
