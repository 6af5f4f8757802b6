import type { Migration } from "../migration.ts"

/** Those in which it is not noted yet: what was proposed since somebody last looked at a list. */
export const proposalsWithoutOwner: Migration = {
  name: "057_proposals_without_owner",
  index: { name: "proposal_without_owner", table: "proposal", over: "(conversation) WHERE person IS NULL" },
}
