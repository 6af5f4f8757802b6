import type { Migration } from "./list.ts"

/** Which of its person's databases a conversation works on; NULL for none. The connection may be gone by now. */
export const conversationConnection: Migration = {
  name: "014_conversation_connection",
  statements: () => ["ALTER TABLE conversation ADD COLUMN connection TEXT"],
}
