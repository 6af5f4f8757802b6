import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statfsSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { SettingsError } from "./settings-error.ts"

/** What this program keeps in its data folder. Nothing else is touched: somebody may have pointed it at their home. */
const OURS =
  /^(?:(?:pawl|device)\.db(?:-wal|-shm|-journal|-owner)?|master\.key.*|chat-history.*|databases|folders|kept|sandboxes)$/
const OTHERS = 0o077

/**
 * Makes the folder where there is none, and shuts what is in it to other users of this machine: it holds what people say. A
 * folder that was there before, or files of an earlier Pawl, may be open to everybody.
 */
export function makeDataFolder(folder: string): void {
  try {
    makeFolders(resolve(folder))
  } catch (error) {
    throw new SettingsError(`The data folder (PAWL_DATA) cannot be made: ${errorReason(error)}.`, { cause: error })
  }
  for (const path of openToOthers(folder)) {
    try {
      chmodSync(path, lstatSync(path).mode & 0o777 & ~OTHERS)
    } catch {
      // Gone meanwhile, or somebody else's: `pawl doctor` names what stays open.
    }
  }
}

/** Node's own way to make several tries for ever where a file system has no folder to make it in and says so, as `/proc` does. */
function makeFolders(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolders(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process was faster.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** What other users of this machine could read, of what is ours. Windows keeps such things elsewhere. */
export function openToOthers(folder: string): string[] {
  // With a PostgreSQL a command makes no folder, and has nothing there.
  if (process.platform === "win32" || !existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => OURS.test(name))
    .map((name) => join(folder, name))
    .filter((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false })
      return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & OTHERS) !== 0
    })
}

/** Less than this is no space: as much does a database need to be opened. */
const LEAST_BYTES = 1024 * 1024

/** Why a database in a file cannot be opened. On a full disk SQLite may say no more than "disk I/O error". */
export function openingReason(error: unknown, file: string, look: typeof statfsSync = statfsSync): string {
  const { errcode } = error as { errcode?: number }
  // Its codes for an error of the disk, and for a full one.
  if (errcode === undefined || ![10, 13].includes(errcode & 0xff)) return errorReason(error)
  try {
    const { bavail, bsize } = look(dirname(file))
    if (bavail * bsize < LEAST_BYTES) return "its disk is full; make room there and start again"
  } catch {
    // Then it is what the error says.
  }
  return errorReason(error)
}

/** A refused connection to a name with several addresses is an error whose message is empty. */
export function errorReason(error: unknown): string {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: { code?: string } }
  return (message || code || cause?.code || String(error)).replace(/\.$/, "")
}
