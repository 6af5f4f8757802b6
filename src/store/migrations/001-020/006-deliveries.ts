import type { Migration } from "../migration.ts"

/** What is told to others, and what was erased: both go on after a crash until they are done. */
export const deliveries: Migration = {
  name: "006_deliveries",
  statements: ({ clustered }) => [
    // One for each event that made proposals wait. `due_at` is when it is tried next; a try that dies is due again then.
    `CREATE TABLE delivery (
      conversation BIGINT NOT NULL,
      position BIGINT NOT NULL,
      attempts BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      ended_at BIGINT,
      PRIMARY KEY (conversation, position)) ${clustered}`,
    // Nothing of these people may come back: what was under way while they were erased is erased after them.
    `CREATE TABLE erased_person (
      id TEXT NOT NULL PRIMARY KEY,
      at BIGINT NOT NULL) ${clustered}`,
  ],
}
