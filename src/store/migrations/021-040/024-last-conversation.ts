import type { Migration } from "../migration.ts"

/** Where a device was last spoken in, so that it goes on there when it comes again; and which model answered a run. */
export const lastConversation: Migration = {
  name: "024_last_conversation",
  statements: () => ["ALTER TABLE device ADD COLUMN conversation TEXT", "ALTER TABLE run ADD COLUMN model TEXT"],
}
