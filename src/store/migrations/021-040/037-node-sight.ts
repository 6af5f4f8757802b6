import type { Migration } from "../migration.ts"

/** What an operator sees of a node: nothing is decided by these times. The first two are the database's, the last is its own. */
export const nodeSight: Migration = {
  name: "037_node_sight",
  statements: () => [
    "ALTER TABLE node ADD COLUMN since BIGINT",
    "ALTER TABLE node ADD COLUMN signed_at BIGINT",
    "ALTER TABLE node ADD COLUMN own_time BIGINT",
  ],
}
