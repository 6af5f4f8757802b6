import type { Migration } from "../migration.ts"

/** Tables that packs have brought, with the column that says whose a row is and the columns that an export shows. */
export const tablesOfPacks: Migration = {
  name: "030_tables_of_packs",
  statements: ({ clustered }) => [
    `CREATE TABLE table_of_pack (
      name TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      exported TEXT NOT NULL) ${clustered}`,
  ],
}
