import type { Migration } from "../migration.ts"

/** What a conversation has cost is told whenever it is opened: without this, everything that its person ever asked is read. */
export const usageOfConversations: Migration = {
  name: "041_usage_of_conversations",
  index: { name: "usage_conversation", table: "usage", over: "(conversation)" },
}
