import type { Migration } from "../migration.ts"

/** How much of what somebody may ask is used up, all nodes together: until when it takes to be as if nothing had been. */
export const buckets: Migration = {
  name: "036_buckets",
  statements: ({ clustered }) => [
    `CREATE TABLE bucket (
      kind TEXT NOT NULL,
      who TEXT NOT NULL,
      full_at DOUBLE PRECISION NOT NULL,
      changed_at BIGINT NOT NULL,
      PRIMARY KEY (kind, who)) ${clustered}`,
    "CREATE INDEX bucket_changed ON bucket (changed_at)",
  ],
}
