import { type Clock, machineTimeOf } from "../../shared/time/clock.ts"
import type { SharedFiles } from "../../engine/stored-files.ts"
import type { Engine } from "../engine/engine.ts"
import { FileCache } from "./file-cache.ts"
import { SqlFileDisks } from "./file-disks.ts"
import { SqlDatabaseFiles } from "./database-files.ts"

/** Undefined if only this machine uses the database: then files are stored locally. */
export function createSharedFiles(
  { engine }: { readonly engine: Engine },
  { folder, clock }: { readonly folder: string; readonly clock: Clock },
): SharedFiles | undefined {
  if (!engine.manyMachines) return undefined
  // Local files have this machine's time, rows the database's.
  const cache = new FileCache({ folder, now: () => machineTimeOf(clock) })
  return { kept: new SqlDatabaseFiles(engine, cache, () => clock.now()), disks: new SqlFileDisks(engine) }
}
