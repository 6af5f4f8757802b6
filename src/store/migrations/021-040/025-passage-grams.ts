import type { Migration } from "../migration.ts"

/**
 * What passages in Chinese, Japanese, Korean or Thai are found by: `grams`, empty where there is nothing of the kind, NULL
 * where nobody has looked yet. What was there before is looked through in the background.
 */
export const passageGrams: Migration = {
  name: "025_passage_grams",
  statements: ({ grams }) => [
    "ALTER TABLE passage ADD COLUMN grams TEXT",
    "CREATE INDEX passage_without_grams ON passage (key) WHERE grams IS NULL",
    ...grams,
  ],
}
