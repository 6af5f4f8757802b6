import type { Migration } from "../migration.ts"

/** One index for those that are open and for those whose owner is not noted yet, which nearly all new ones are both of. */
export const proposalsAtHand: Migration = {
  name: "060_proposals_at_hand",
  index: {
    name: "proposal_at_hand",
    table: "proposal",
    over: "(person, conversation) WHERE status IN ('pending', 'applying', 'in_doubt') OR person IS NULL",
  },
}
