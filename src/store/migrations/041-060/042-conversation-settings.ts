import type { Migration } from "../migration.ts"

/** How a conversation's model is to reply, as JSON; NULL where nothing was set for it. */
export const conversationSettings: Migration = {
  name: "042_conversation_settings",
  statements: () => ["ALTER TABLE conversation ADD COLUMN settings TEXT"],
}
