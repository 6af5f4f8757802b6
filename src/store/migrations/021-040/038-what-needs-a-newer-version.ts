import type { Migration } from "../migration.ts"

/** A version that finds steps it does not know has to be told whether it can work with what they leave. */
export const whatNeedsANewerVersion: Migration = {
  name: "038_what_needs_a_newer_version",
  statements: () => ["ALTER TABLE migration ADD COLUMN needs TEXT"],
}
