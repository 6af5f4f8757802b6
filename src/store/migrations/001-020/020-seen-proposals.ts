import type { Migration } from "../migration.ts"

/** When a person saw that a proposal had expired: until then their inbox keeps it. */
export const seenProposals: Migration = {
  name: "020_seen_proposals",
  statements: () => [
    "ALTER TABLE proposal ADD COLUMN seen_at BIGINT",
    // What expired before there was such a thing is no news.
    "UPDATE proposal SET seen_at = expires_at WHERE status = 'expired'",
  ],
}
