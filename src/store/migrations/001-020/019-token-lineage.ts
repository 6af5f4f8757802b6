import type { Migration } from "../migration.ts"

const usual = "scopes LIKE '%read%' AND scopes LIKE '%chat%' AND scopes LIKE '%approve%'"

/**
 * Which token has made this one, and until when it counts: none outlives what made it. And the scope `manage`: until now
 * `chat` and `approve` could do all that it allows, so who had every usual scope keeps the powers they had.
 */
export const tokenLineage: Migration = {
  name: "019_token_lineage",
  statements: () => [
    "ALTER TABLE token ADD COLUMN minted_by TEXT",
    "ALTER TABLE token ADD COLUMN expires_at BIGINT",
    ...["token", "session", "sign_in_link"].map(
      (table) => `UPDATE ${table} SET scopes = scopes || ' manage' WHERE ${usual}`,
    ),
  ],
}
