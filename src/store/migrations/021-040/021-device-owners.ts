import type { Migration } from "../migration.ts"

/**
 * Whose a device is: `lineage` names the credential that first said hello under its name, or was allowed to later
 * (`taken_at`). The columns from `request` on are the newest other credential that asks to be it. Devices from before are
 * bound by their next hello. A ticket remembers the lineage of whoever asked for it.
 */
export const deviceOwners: Migration = {
  name: "021_device_owners",
  statements: ({ clustered }) => [
    `CREATE TABLE device (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      name TEXT NOT NULL,
      lineage TEXT NOT NULL,
      bound_at BIGINT NOT NULL,
      taken_at BIGINT,
      request TEXT,
      asker TEXT,
      asker_credential TEXT,
      asked_at BIGINT,
      UNIQUE (person, name)) ${clustered}`,
    "ALTER TABLE ticket ADD COLUMN lineage TEXT",
  ],
}
