import type { Migration } from "../migration.ts"

/** Which node is about to take up a conversation that another has left behind, so that not all of them read it. */
export const earmarks: Migration = {
  name: "035_earmarks",
  statements: ({ clustered }) => [
    `CREATE TABLE earmark (
      conversation BIGINT NOT NULL PRIMARY KEY,
      node TEXT NOT NULL) ${clustered}`,
  ],
}
