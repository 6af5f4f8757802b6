import type { Migration } from "../migration.ts"

/** People of an issuer of JWTs who were erased, as hashes: a token from before would make them anew, and nobody would know. */
export const erasedIdentities: Migration = {
  name: "018_erased_identities",
  statements: ({ clustered }) => [
    `CREATE TABLE erased_identity (
      hash TEXT NOT NULL PRIMARY KEY,
      at BIGINT NOT NULL) ${clustered}`,
  ],
}
