import { chmodSync, existsSync, lstatSync, readdirSync, statfsSync } from "node:fs"
import { dirname, join } from "node:path"
import { hasCode } from "../protocol/errors.ts"
import { makeFolders } from "../shared/processes/make-folders.ts"
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
  options: Pick<StoreOptions, "clock" | "machineClock" | "log" | "filesFolder" | "personBytes" | "forExport"> = {},
): Promise<Store> {
  const { databaseUrl, dataFolder, durability, databaseConnections: connections } = settings
  // People's data must not be readable by other users of this machine.
  if (databaseUrl.startsWith("file:")) makeDataFolder(dataFolder)
  try {
    const own = {
      masterKeys: masterKeysOf(settings),
      cacheFolder: join(dataFolder, "index-cache"),
      nodeFile: join(dataFolder, "node"),
    }
    return await openStore({ url: databaseUrl, durability, connections, ...own, ...options })
  } catch (error) {
    if (hasCode(error, "files_folder_refused")) throw new SettingsError((error as Error).message, { cause: error })
    const file = databaseUrl.startsWith("file:") ? databaseUrl.slice("file:".length) : undefined
    const reason = file === undefined ? failureReason(error) : openingReason(error, file)
    throw new SettingsError(`The database (${file ?? "DATABASE_URL"}) cannot be opened: ${reason}.`, { cause: error })
  }
}

/** The keys of the settings, or the key file in the data folder. */
export function masterKeysOf(
  settings: Omit<StoreConfig, "databaseUrl" | "databaseConnections" | "durability">,
): MasterKeys | KeyFile {
  const { masterKey, previousMasterKey, dataFolder } = settings
  if (!masterKey) return new KeyFile(join(dataFolder, "master.key"))
  return fixedKeys(masterKey, ...(previousMasterKey ? [previousMasterKey] : []))
}

/** Our files in a data folder. Others are not touched: the folder may be someone's home. */
const OUR_FILES =
  /^(?:(?:pawl|device)\.db(?:-wal|-shm|-journal|-owner)?|master\.key.*|node\.(?:json|lock)|chat-history.*|trusted-folders\.json|tainted-files|databases|folders|kept|sandboxes|skills|AGENTS\.md|CLAUDE\.md)$/
const OTHERS = 0o077

/**
 * Creates the folder if necessary, and makes our files in it private. An existing folder, or files of an earlier version,
 * may be readable by everyone.
 */
export function makeDataFolder(folder: string): void {
  try {
    makeFolders(folder)
  } catch (error) {
    const isFile = (error as NodeJS.ErrnoException).code === "EEXIST"
    const reason = isFile ? "a file is in its path" : failureReason(error)
    throw new SettingsError(`The data folder ${folder} (PAWL_DATA) cannot be created: ${reason}.`, { cause: error })
  }
  for (const path of filesOpenToOthers(folder)) {
    try {
      chmodSync(path, lstatSync(path).mode & 0o777 & ~OTHERS)
    } catch {
      // Removed in the meantime, or owned by someone else: `pawl doctor` reports what stays readable.
    }
  }
}

/** Our files that other users of this machine could read. Not checked on Windows, whose profiles are private. */
export function filesOpenToOthers(folder: string): string[] {
  // With PostgreSQL a command creates no folder.
  if (process.platform === "win32" || !existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => OUR_FILES.test(name))
    .map((name) => join(folder, name))
    .filter((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false })
      return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & OTHERS) !== 0
    })
}

/** SQLite needs this much to open a database. */
const MIN_FREE_BYTES = 1024 * 1024

/** Why a database file cannot be opened. On a full disk SQLite may only report "disk I/O error". */
export function openingReason(error: unknown, file: string, statDisk: typeof statfsSync = statfsSync): string {
  const { errcode } = error as { errcode?: number }
  // SQLITE_IOERR and SQLITE_FULL.
  if (errcode === undefined || ![10, 13].includes(errcode & 0xff)) return failureReason(error)
  try {
    const { bavail, bsize } = statDisk(dirname(file))
    if (bavail * bsize < MIN_FREE_BYTES) return "the disk is full. Free some space and start again"
  } catch {
    // Use the error's own text.
  }
  return failureReason(error)
}
