import type { Migration } from "../migration.ts"

/** A node counts its signs of life: a time until which it is alive would be compared with the clock of another machine. */
export const nodeBeats: Migration = {
  name: "017_node_beats",
  statements: () => [
    "ALTER TABLE node ADD COLUMN beats BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE node DROP COLUMN expires_at",
  ],
}
