import type { Migration } from "../migration.ts"

/** Who makes the vector of a note just now, and until when that counts; without a name, until when it is set aside. */
export const noteClaims: Migration = {
  name: "029_note_claims",
  statements: () => [
    "ALTER TABLE note_vector ADD COLUMN claimed_by TEXT",
    "ALTER TABLE note_vector ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0",
  ],
}
