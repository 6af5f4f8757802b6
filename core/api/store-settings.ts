import { resolve } from "node:path"
import { openingReason } from "../compose/open-store.ts"
import { codeOf } from "../protocol/errors.ts"
import type { Clock } from "../shared/time/clock.ts"
import { KeyFile } from "../store/people/key-file.ts"
import { openStore, type Store } from "../store/store.ts"

/** The location of the data, a SQLite file or PostgreSQL, and its durability. */
export interface StoreSettings {
  /** A file or `postgres://…`. `:memory:` keeps data only until the process ends; use it in tests. */
  readonly url: string
  /** `full` (default): committed data survives a power failure. `normal`: it survives a crash of the process. */
  readonly durability?: "full" | "normal"
  /** The most connections to PostgreSQL. Default: 10. */
  readonly connections?: number
  /**
   * A folder for files over 1 MB, which every process that uses the store must share. Default: files are stored in the
   * database.
   */
  readonly filesFolder?: string
}

/** In the working folder, so that a program without `store` finds its conversations after a restart. */
const USUAL_FILE = "pawl.db"

export async function openLibraryStore(store: string | StoreSettings = USUAL_FILE, clock?: Clock): Promise<Store> {
  const { url, ...given } = typeof store === "string" ? { url: store } : store
  const settings = { ...given, clock }
  const file = /^file:/.test(url) ? url.slice("file:".length) : url
  if (url === ":memory:" || /^[a-z]+:\/\//.test(url)) return openStore({ ...settings, url })
  const path = resolve(file)
  // The key file is created when the first secret needs it.
  return openStore({ ...settings, url: `file:${path}`, masterKeys: new KeyFile(`${path}.key`) }).catch(
    (error: unknown) => {
      if (codeOf(error)) throw error
      throw new Error(`The store ${path} cannot be opened: ${openingReason(error, path)}.`, { cause: error })
    },
  )
}
