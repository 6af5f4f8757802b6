import type { Migration } from "../migration.ts"

/** Which nodes are newer than others: input that only they can take is left to them. */
export const eventsKnown: Migration = {
  name: "039_events_known",
  statements: () => ["ALTER TABLE node ADD COLUMN events_known BIGINT"],
}
