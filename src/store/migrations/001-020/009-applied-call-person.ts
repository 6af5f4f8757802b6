import type { Migration } from "../migration.ts"

/** Whose call it was: an effect that lands after its conversation was erased is found by nothing else. */
export const appliedCallPerson: Migration = {
  name: "009_applied_call_person",
  statements: () => [
    "ALTER TABLE applied_call ADD COLUMN person TEXT",
    "CREATE INDEX applied_call_person ON applied_call (person)",
  ],
}
