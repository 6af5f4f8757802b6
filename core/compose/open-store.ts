import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statfsSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { hasCode } from "../protocol/errors.ts"
import { failureReason } from "../shared/text/system-errors.ts"
import { KeyFile } from "../store/people/key-file.ts"
import { fixedKeys, type MasterKeys } from "../store/people/master-keys.ts"
import { openStore, type Store, type StoreOptions } from "../store/store.ts"
import { type ServerSettings, SettingsError } from "./settings.ts"

export type StoreConfig = Pick<
  ServerSettings,
  "databaseUrl" | "databaseConnections" | "dataFolder" | "durability" | "masterKey" | "previousMasterKey"
>

/** The store alone: for the server, and for commands that run no conversation. */
export async function openConfiguredStore(
  settings: StoreConfig,
  given: Pick<StoreOptions, "clock" | "machineClock" | "log" | "filesFolder" | "personBytes" | "forExport"> = {},
): Promise<Store> {
  const { databaseUrl, dataFolder, durability, databaseConnections: connections } = settings
  // What people say is nobody else's business, also not that of other users of this machine.
  if (databaseUrl.startsWith("file:")) makeDataFolder(dataFolder)
  try {
    const own = {
      masterKeys: masterKeysOf(settings),
      cacheFolder: join(dataFolder, "index-cache"),
      nodeFile: join(dataFolder, "node"),
    }
    return await openStore({ url: databaseUrl, durability, connections, ...own, ...given })
  } catch (error) {
    if (hasCode(error, "files_folder_refused")) throw new SettingsError((error as Error).message, { cause: error })
    const file = databaseUrl.startsWith("file:") ? databaseUrl.slice("file:".length) : undefined
    const reason = file === undefined ? failureReason(error) : openingReason(error, file)
    throw new SettingsError(`The database (${file ?? "DATABASE_URL"}) cannot be opened: ${reason}.`, { cause: error })
  }
}

/** The keys that the settings name, or the one in the data folder. */
export function masterKeysOf(
  settings: Omit<StoreConfig, "databaseUrl" | "databaseConnections" | "durability">,
): MasterKeys | KeyFile {
  const { masterKey, previousMasterKey, dataFolder } = settings
  if (!masterKey) return new KeyFile(join(dataFolder, "master.key"))
  return fixedKeys(masterKey, ...(previousMasterKey ? [previousMasterKey] : []))
}

/** What this program keeps in its data folder. Nothing else is touched: somebody may have pointed it at their home. */
const OURS =
  /^(?:(?:pawl|device)\.db(?:-wal|-shm|-journal|-owner)?|master\.key.*|node\.(?:json|lock)|chat-history.*|trusted-folders\.json|tainted-files|databases|folders|kept|sandboxes)$/
const OTHERS = 0o077

/**
 * Makes the folder where there is none, and shuts what is in it to other users of this machine: it holds what people say. A
 * folder that was there before, or files of an earlier Pawl, may be open to everybody.
 */
export function makeDataFolder(folder: string): void {
  try {
    makeFolders(resolve(folder))
  } catch (error) {
    const isFile = (error as NodeJS.ErrnoException).code === "EEXIST"
    const reason = isFile ? "a file is in its path" : failureReason(error)
    throw new SettingsError(`The data folder ${folder} (PAWL_DATA) cannot be created: ${reason}.`, { cause: error })
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
  if (errcode === undefined || ![10, 13].includes(errcode & 0xff)) return failureReason(error)
  try {
    const { bavail, bsize } = look(dirname(file))
    if (bavail * bsize < LEAST_BYTES) return "the disk is full. Free some space and start again"
  } catch {
    // Then it is what the error says.
  }
  return failureReason(error)
}
