import { resolve } from "node:path"
import { openStore as openAny, type Store } from "../store/store.ts"
import { KeyFile } from "../store/people/key-file.ts"

export interface StoreSettings {
  /** A file, or `postgres://…`. `:memory:` is for tests: it does not outlive the process. */
  readonly url: string
  /** `full` without: what is acknowledged survives a power cut. `normal` survives a crash of the process. */
  readonly durability?: "full" | "normal"
  /** To PostgreSQL, at most; 10 without. */
  readonly connections?: number
  /** Where the bytes of files in messages lie that are larger than 1 MB, shared by all that use the store; without, in it. */
  readonly filesFolder?: string
}

/** In the working folder: a program that says nothing about it finds its conversations again. */
const USUAL_FILE = "pawl.db"

export function openGivenStore(store: string | StoreSettings = USUAL_FILE): Promise<Store> {
  const { url, ...settings } = typeof store === "string" ? { url: store } : store
  const file = /^file:/.test(url) ? url.slice("file:".length) : url
  if (url === ":memory:" || /^[a-z]+:\/\//.test(url)) return openAny({ ...settings, url })
  const path = resolve(file)
  // Made when the first secret needs it: of a person's database, or of their provider.
  return openAny({ ...settings, url: `file:${path}`, masterKeys: new KeyFile(`${path}.key`) })
}
