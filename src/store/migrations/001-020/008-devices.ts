import type { Migration } from "../migration.ts"

/** Where a conversation's workspace is: NULL on the server, otherwise the device of that name, '' for one without any. */
export const devices: Migration = {
  name: "008_devices",
  statements: () => ["ALTER TABLE conversation ADD COLUMN device TEXT"],
}
