import type { Migration } from "../migration.ts"

/**
 * The fold of a long conversation as it was at a position, so that a resume reads one row and not a history. Made from the
 * journal and made anew from it whenever it does not fit. It holds the words of its conversation and goes with it.
 */
export const keptFolds: Migration = {
  name: "052_kept_folds",
  statements: ({ uncompressed }) => [
    // A node of the version before erases conversations too, and on SQLite gives the newest one another key for that.
    `CREATE TABLE kept_fold (
      conversation BIGINT NOT NULL PRIMARY KEY REFERENCES conversation (key) ON DELETE CASCADE ON UPDATE CASCADE,
      position BIGINT NOT NULL,
      version TEXT NOT NULL,
      body TEXT NOT NULL)`,
    // It is read much more often than written, and whole.
    ...uncompressed("kept_fold", "body"),
  ],
}
