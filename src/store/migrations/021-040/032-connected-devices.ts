import type { Migration } from "../migration.ts"

/**
 * Which sockets are devices, and at which process: by `name`, or as the one that speaks in a `conversation` without having
 * said a name. `number` says which of two came later. Rows go with their process, as its leases do. Where only one process
 * can have the database open nothing is ever written here.
 */
export const connectedDevices: Migration = {
  name: "032_connected_devices",
  statements: ({ serialKey }) => [
    `CREATE TABLE connected_device (
      number ${serialKey},
      node TEXT NOT NULL REFERENCES node (id) ON DELETE CASCADE,
      person TEXT NOT NULL,
      name TEXT,
      conversation TEXT UNIQUE,
      lineage TEXT NOT NULL,
      introduced TEXT,
      connected_at BIGINT NOT NULL)`,
    "CREATE INDEX connected_device_person ON connected_device (person, name)",
    "CREATE INDEX connected_device_node ON connected_device (node)",
  ],
}
