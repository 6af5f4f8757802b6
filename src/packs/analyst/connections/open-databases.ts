import type { Clock } from "../../../agent/clock.ts"
import type { Log } from "../../../agent/ports.ts"
import { CsvFiles } from "../csv/files.ts"
import { postgresKind } from "../postgres/kind.ts"
import type { HostRules } from "../postgres/hosts.ts"
import { makeSample } from "./sample-database.ts"
import { sqliteKind } from "../sqlite/kind.ts"
import { type ConnectionRecords, UserDatabases } from "./user-databases.ts"

export interface DatabaseOptions {
  readonly records: ConnectionRecords
  readonly clock: Clock
  readonly hosts: HostRules
  readonly sqliteRoot: string
  readonly superuserConnections: boolean
  readonly log?: Log
}

/** The databases of people, of every kind there is. A new kind is one more line here and one in the protocol. */
export function openDatabases(options: DatabaseOptions): UserDatabases {
  const { records, clock, hosts, sqliteRoot, superuserConnections, log } = options
  const kinds = {
    postgres: postgresKind({ hosts, superuserConnections, log }),
    sqlite: sqliteKind({ root: sqliteRoot, log }),
  }
  const files = new CsvFiles(sqliteRoot, async (user, id) => (await records.find(user, id)) !== undefined)
  return new UserDatabases({ records, kinds, clock, files, log, makeSample: () => makeSample(sqliteRoot) })
}
