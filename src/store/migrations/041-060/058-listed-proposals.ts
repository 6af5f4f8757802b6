import type { Migration } from "../migration.ts"

/** A person's list, newest first: without this, it reads all proposals of everybody. */
export const listedProposals: Migration = {
  name: "058_listed_proposals",
  index: { name: "proposal_person", table: "proposal", over: "(person, expires_at, id) WHERE person IS NOT NULL" },
}
