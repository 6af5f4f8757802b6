import type { Migration } from "../migration.ts"

/** What has expired in a conversation is told whenever it is opened: without this, every proposal that was ever made is read. */
export const lapsedProposals: Migration = {
  name: "053_lapsed_proposals",
  index: { name: "proposal_lapsed", table: "proposal", over: "(conversation) WHERE status = 'expired'" },
}
