import type { Migration } from "../migration.ts"

/** What expired before its person saw it, and what may: an inbox shows it whenever a page is opened. */
export const unseenProposals: Migration = {
  name: "059_unseen_proposals",
  index: {
    name: "proposal_unseen",
    table: "proposal",
    over: "(person, expires_at, id) WHERE person IS NOT NULL AND status IN ('pending', 'expired') AND seen_at IS NULL",
  },
}
