import type { Migration } from "../migration.ts"

/** A conversation is erased with its proposals: without this, every proposal that was ever made is read for that. */
export const proposalsThatAreOver: Migration = {
  name: "054_proposals_that_are_over",
  index: {
    name: "proposal_over",
    table: "proposal",
    over: "(conversation) WHERE status NOT IN ('pending', 'applying', 'in_doubt', 'expired')",
  },
}
