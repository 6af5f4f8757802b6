import type { Migration } from "../migration.ts"

/**
 * Which issuer has vouched for a session, and for the link that begins it: when it says less of somebody, those end. Nothing
 * stands there for links that this server has made for people itself.
 */
export const sessionsOfIssuers: Migration = {
  name: "049_sessions_of_issuers",
  statements: () => ["ALTER TABLE session ADD COLUMN issuer TEXT", "ALTER TABLE sign_in_link ADD COLUMN issuer TEXT"],
}
