import type { Migration } from "../migration.ts"

/** How often something of a person was changed, so that processes that share the database notice what others have done. */
export const news: Migration = {
  name: "031_news",
  statements: ({ clustered }) => [
    `CREATE TABLE news (
      person BIGINT NOT NULL,
      kind TEXT NOT NULL,
      count BIGINT NOT NULL,
      PRIMARY KEY (person, kind)) ${clustered}`,
  ],
}
