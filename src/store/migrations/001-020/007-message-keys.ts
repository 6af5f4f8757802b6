import type { Migration } from "../migration.ts"

/** Which message a caller's key stands for, so that a request sent twice is one message. */
export const messageKeys: Migration = {
  name: "007_message_keys",
  statements: ({ clustered }) => [
    `CREATE TABLE message_key (
      conversation BIGINT NOT NULL,
      key TEXT NOT NULL,
      body TEXT NOT NULL,
      message_id TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (conversation, key)) ${clustered}`,
  ],
}
