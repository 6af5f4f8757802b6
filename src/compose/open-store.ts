import { join } from "node:path"
import { hasCode } from "../protocol/errors.ts"
import { KeyFile } from "../store/people/key-file.ts"
import { givenKeys, type MasterKeys } from "../store/people/master-keys.ts"
import { openStore, type Store, type StoreOptions } from "../store/store.ts"
import { errorReason, makeDataFolder, openingReason } from "./data-folder.ts"
import type { ServerSettings } from "./settings.ts"
import { SettingsError } from "./settings-error.ts"

export type StoreConfig = Pick<
  ServerSettings,
  "databaseUrl" | "databaseConnections" | "dataFolder" | "durability" | "masterKey" | "previousMasterKey"
>

/** The store alone: for the server, and for commands that run no conversation. */
export async function openConfiguredStore(
  settings: StoreConfig,
  given: Pick<StoreOptions, "clock" | "machineClock" | "log" | "filesFolder"> = {},
): Promise<Store> {
  const { databaseUrl, dataFolder, durability, databaseConnections: connections } = settings
  // What people say is nobody else's business, also not that of other users of this machine.
  if (databaseUrl.startsWith("file:")) makeDataFolder(dataFolder)
  try {
    const own = { masterKeys: masterKeysOf(settings), cacheFolder: join(dataFolder, "index-cache") }
    return await openStore({ url: databaseUrl, durability, connections, ...own, ...given })
  } catch (error) {
    if (hasCode(error, "files_folder_refused")) throw new SettingsError((error as Error).message, { cause: error })
    const file = databaseUrl.startsWith("file:") ? databaseUrl.slice("file:".length) : undefined
    const reason = file === undefined ? errorReason(error) : openingReason(error, file)
    throw new SettingsError(`The database (${file ?? "DATABASE_URL"}) cannot be opened: ${reason}.`, { cause: error })
  }
}

/** The keys that the settings name, or the one in the data folder. */
export function masterKeysOf(
  settings: Omit<StoreConfig, "databaseUrl" | "databaseConnections" | "durability">,
): MasterKeys | KeyFile {
  const { masterKey, previousMasterKey, dataFolder } = settings
  if (!masterKey) return new KeyFile(join(dataFolder, "master.key"))
  return givenKeys(masterKey, ...(previousMasterKey ? [previousMasterKey] : []))
}
