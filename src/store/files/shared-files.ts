import type { SharedFiles } from "../../protocol/ports/kept-files.ts"
import type { Engine } from "../engine/engine.ts"
import { FileCache } from "./file-cache.ts"
import { SqlFileDisks } from "./file-disks.ts"
import { SqlKeptFiles } from "./kept-files.ts"

/** Nothing where only this machine uses the database: there a file lies best where files lie. */
export function sharedFilesOf(
  { engine }: { readonly engine: Engine },
  { folder, now }: { readonly folder: string; readonly now: () => number },
): SharedFiles | undefined {
  if (!engine.manyMachines) return undefined
  return { kept: new SqlKeptFiles(engine, new FileCache({ folder, now }), now), disks: new SqlFileDisks(engine) }
}
