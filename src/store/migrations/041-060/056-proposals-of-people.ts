import type { Migration } from "../migration.ts"

/** Whose a proposal is, for lists: noted by whoever lists next, so it may be missing. */
export const proposalsOfPeople: Migration = {
  name: "056_proposals_of_people",
  statements: () => ["ALTER TABLE proposal ADD COLUMN person BIGINT"],
}
