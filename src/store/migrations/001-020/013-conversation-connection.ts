import type { Migration } from "../migration.ts"

/** Which of its person's databases a conversation works on; NULL for none. The connection may be gone by now. */
export const conversationConnection: Migration = {
  // Like that of the step before it, this name is older than the number of its file, and stays.
  name: "014_conversation_connection",
  statements: () => ["ALTER TABLE conversation ADD COLUMN connection TEXT"],
}
