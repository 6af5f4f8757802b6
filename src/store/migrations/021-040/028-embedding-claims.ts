import type { Migration } from "../migration.ts"

/** Who makes vectors of an edition just now, and until when that counts: nobody else begins with it before. */
export const embeddingClaims: Migration = {
  name: "028_embedding_claims",
  statements: () => [
    "ALTER TABLE embedding ADD COLUMN claimed_by TEXT",
    "ALTER TABLE embedding ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX embedding_turns ON embedding (embedder, person, at) WHERE embedded < passages",
  ],
}
