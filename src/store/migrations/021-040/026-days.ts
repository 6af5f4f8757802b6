import type { Migration } from "../migration.ts"

/**
 * Whole days beside moments. Where a day stands here, the column of milliseconds holds the noon of it in Greenwich, and
 * the day counts only while it does: an older process that changes the moment is believed.
 */
export const days: Migration = {
  name: "026_days",
  statements: () => ["ALTER TABLE task ADD COLUMN due_day TEXT", "ALTER TABLE checkpoint ADD COLUMN day TEXT"],
}
