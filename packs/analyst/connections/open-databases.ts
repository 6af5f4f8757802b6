import type { Clock, Log, SharedFiles } from "../../../core/pack.ts"
import type { QueryLimits } from "../database/sql-guards.ts"
import { CsvFiles } from "../csv/files.ts"
import { StoredCsvFiles } from "../csv/stored-csv-files.ts"
import { postgresKind } from "../postgres/kind.ts"
import type { HostRules } from "../postgres/hosts.ts"
import { makeSample } from "./sample-database.ts"
import { StoredUploads } from "../sqlite/stored-uploads.ts"
import { DiskOwnership } from "../sqlite/disk-ownership.ts"
import { sqliteKind } from "../sqlite/kind.ts"
import { type ConnectionRecords, UserDatabases } from "./user-databases.ts"

export interface DatabaseOptions {
  readonly records: ConnectionRecords
  readonly clock: Clock
  readonly hosts: HostRules
  readonly sqliteRoot: string
  /** Set if several machines share the store; without it, each file is on this machine's disk. */
  readonly sharedFiles?: SharedFiles | undefined
  readonly superuserConnections: boolean
  /** Limits of one query. Default: `queryLimits`. */
  readonly queryLimits?: QueryLimits | undefined
  readonly log?: Log
}

/** Opens people's databases, of every kind. A new kind needs one line here and one in the protocol. */
export function openDatabases(options: DatabaseOptions): UserDatabases {
  const { records, clock, hosts, sqliteRoot, sharedFiles: files, superuserConnections, log } = options
  const limits = options.queryLimits ? { limits: options.queryLimits } : {}
  const shared = files && {
    uploads: new StoredUploads(files.kept, sqliteRoot, log),
    disk: new DiskOwnership(files.disks, sqliteRoot),
  }
  const kinds = {
    postgres: postgresKind({ hosts, superuserConnections, log, ...limits }),
    sqlite: sqliteKind({ root: sqliteRoot, shared, log, ...limits }),
  }
  const disk = new CsvFiles(sqliteRoot, async (user, id) => (await records.find(user, id)) !== undefined)
  const uploads = shared ? new StoredCsvFiles(shared.uploads, { disk, root: sqliteRoot, log }) : disk
  const manyMachines = shared !== undefined
  const ports = { records, kinds, clock, files: uploads, log, manyMachines }
  return new UserDatabases({ ...ports, makeSample: () => makeSample(sqliteRoot) })
}
