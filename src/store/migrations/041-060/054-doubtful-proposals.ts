import type { Migration } from "../migration.ts"

/**
 * Every few seconds it is looked for writes that are in doubt. There are hardly any; among those that are open they stood with
 * all that nobody ever answered, which stay open for good.
 */
export const doubtfulProposals: Migration = {
  name: "054_doubtful_proposals",
  index: { name: "proposal_doubtful", table: "proposal", over: "(conversation) WHERE status = 'in_doubt'" },
}
