import type { Clock } from "../../../core/shared/time/clock.ts"
import type { Log } from "../../../core/shared/log.ts"
import type { SharedFiles } from "../../../core/engine/stored-files.ts"
import type { QueryLimits } from "../database/walls.ts"
import { CsvFiles } from "../csv/files.ts"
import { KeptCsvFiles } from "../csv/kept-csv-files.ts"
import { postgresKind } from "../postgres/kind.ts"
import type { HostRules } from "../postgres/hosts.ts"
import { makeSample } from "./sample-database.ts"
import { KeptUploads } from "../sqlite/kept-uploads.ts"
import { OwnDisk } from "../sqlite/own-disk.ts"
import { sqliteKind } from "../sqlite/kind.ts"
import { type ConnectionRecords, UserDatabases } from "./user-databases.ts"

export interface DatabaseOptions {
  readonly records: ConnectionRecords
  readonly clock: Clock
  readonly hosts: HostRules
  readonly sqliteRoot: string
  /** Where several machines share the store; without it each file is on this machine's disk. */
  readonly sharedFiles?: SharedFiles | undefined
  readonly superuserConnections: boolean
  /** What one query may cost, where not what is usual. */
  readonly queryLimits?: QueryLimits | undefined
  readonly log?: Log
}

/** The databases of people, of every kind there is. A new kind is one more line here and one in the protocol. */
export function openDatabases(options: DatabaseOptions): UserDatabases {
  const { records, clock, hosts, sqliteRoot, sharedFiles: files, superuserConnections, log } = options
  const limits = options.queryLimits ? { limits: options.queryLimits } : {}
  const shared = files && {
    uploads: new KeptUploads(files.kept, sqliteRoot, log),
    disk: new OwnDisk(files.disks, sqliteRoot),
  }
  const kinds = {
    postgres: postgresKind({ hosts, superuserConnections, log, ...limits }),
    sqlite: sqliteKind({ root: sqliteRoot, shared, log, ...limits }),
  }
  const disk = new CsvFiles(sqliteRoot, async (user, id) => (await records.find(user, id)) !== undefined)
  const uploads = shared ? new KeptCsvFiles(shared.uploads, { disk, root: sqliteRoot, log }) : disk
  const manyMachines = shared !== undefined
  const ports = { records, kinds, clock, files: uploads, log, manyMachines }
  return new UserDatabases({ ...ports, makeSample: () => makeSample(sqliteRoot) })
}
