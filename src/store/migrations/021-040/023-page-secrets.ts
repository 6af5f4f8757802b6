import type { Migration } from "../migration.ts"

/**
 * A session's second secret, which the page keeps and no cookie carries. Sessions from before have none, and count no
 * longer: whoever has one signs in again.
 */
export const pageSecrets: Migration = {
  name: "023_page_secrets",
  statements: () => ["ALTER TABLE session ADD COLUMN page_hash TEXT"],
}
