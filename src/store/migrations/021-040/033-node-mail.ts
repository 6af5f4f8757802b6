import type { Migration } from "../migration.ts"

/**
 * What processes that share the database say to each other, until it is taken. Each may be lost without harm, so a
 * database that has crashed may forget them all. They go with the process they are for.
 */
export const nodeMail: Migration = {
  name: "033_node_mail",
  statements: ({ serialKey, unlogged }) => [
    `CREATE ${unlogged} TABLE node_mail (
      number ${serialKey},
      addressee TEXT NOT NULL REFERENCES node (id) ON DELETE CASCADE,
      sender TEXT NOT NULL,
      size BIGINT NOT NULL,
      body TEXT NOT NULL)`,
    "CREATE INDEX node_mail_addressee ON node_mail (addressee, number)",
  ],
}
