import type { Migration } from "../migration.ts"

/** How the death of a node was judged, by whoever was first: others who take up a part of what it left go by it. */
export const deaths: Migration = {
  name: "022_deaths",
  statements: ({ clustered }) => [
    `CREATE TABLE death (
      node TEXT NOT NULL PRIMARY KEY,
      judged TEXT NOT NULL) ${clustered}`,
  ],
}
