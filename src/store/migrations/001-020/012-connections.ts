import type { Migration } from "../migration.ts"

/** How people's databases are reached: address and password are one secret, sealed to its row. */
export const connections: Migration = {
  // Its file was once another number. Databases remember the name: with another one it would be done again.
  name: "013_connections",
  statements: ({ clustered }) => [
    `CREATE TABLE connection (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      name TEXT NOT NULL,
      engine TEXT NOT NULL,
      key_id TEXT NOT NULL,
      sealed TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX connection_person ON connection (person, created_at)",
  ],
}
