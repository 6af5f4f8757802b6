import { type Clock, machineTimeOf } from "../../shared/time/clock.ts"
import type { SharedFiles } from "../../engine/stored-files.ts"
import type { Engine } from "../engine/engine.ts"
import { FileCache } from "./file-cache.ts"
import { SqlFileDisks } from "./file-disks.ts"
import { SqlKeptFiles } from "./kept-files.ts"

/** Nothing where only this machine uses the database: there a file lies best where files lie. */
export function sharedFilesOf(
  { engine }: { readonly engine: Engine },
  { folder, clock }: { readonly folder: string; readonly clock: Clock },
): SharedFiles | undefined {
  if (!engine.manyMachines) return undefined
  // Files on this disk have times of this machine, rows those of the database.
  const cache = new FileCache({ folder, now: () => machineTimeOf(clock) })
  return { kept: new SqlKeptFiles(engine, cache, () => clock.now()), disks: new SqlFileDisks(engine) }
}
