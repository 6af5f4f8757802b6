import { isAbsolute, join, relative, resolve, sep } from "node:path"
import type { SqliteTarget } from "../../../protocol/databases/connections.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { StoredBytes } from "../../../protocol/ports/kept-files.ts"
import type { DatabaseUse } from "../database/kind.ts"
import type { KeptUploads } from "./kept-uploads.ts"
import { uploadAt } from "./upload-path.ts"

/** A file on this machine, and the folders in which it may lie. */
export interface FilePlace {
  readonly path: string
  readonly folders: readonly string[]
}

/** A file that may be changed where it lies; or a copy of what the store has, whose bytes have to be put in its place. */
export interface ChangePlace extends FilePlace {
  readonly copyOf?: { readonly path: string; readonly stored: StoredBytes }
}

/** Where the files of people are: those that an operator has put there on this machine, uploads perhaps in the store. */
export class FilePlaces {
  readonly #root: string
  readonly #kept: KeptUploads | undefined

  /** Files lie in the folders `<user>` and `shared` of `root`. With `kept`, uploads are in the store. */
  constructor(root: string, kept?: KeptUploads) {
    this.#root = root
    this.#kept = kept
  }

  /** Only what is the person's own may be changed: a file of everybody is not one person's to change. */
  isOwn(target: SqliteTarget, user: UserId): boolean {
    return this.#pathOf(target, user).startsWith(this.#own(user) + sep)
  }

  async reading({ target, user }: DatabaseUse<SqliteTarget>): Promise<FilePlace> {
    const folders = [this.#own(user), join(this.#root, "shared"), ...(this.#kept ? [this.#kept.folderOf(user)] : [])]
    const upload = this.#uploadOf(target, user)
    const file = upload === undefined ? undefined : await this.#kept?.fetch(user, upload)
    return { path: file?.local ?? this.#pathOf(target, user), folders }
  }

  async changing<T>({ target, user }: DatabaseUse<SqliteTarget>, work: (where: ChangePlace) => Promise<T>): Promise<T> {
    const path = this.#uploadOf(target, user)
    const kept = path === undefined ? undefined : this.#kept
    const inPlace = { path: this.#pathOf(target, user), folders: [this.#own(user)] }
    if (!kept || path === undefined) return work(inPlace)
    const done = await kept.withCopy(user, path, async ({ local, stored }) => ({
      value: await work({ path: local, folders: [kept.folderOf(user)], copyOf: { path, stored } }),
    }))
    return done ? done.value : work(inPlace) // of which there is none: that is what whoever looks will say
  }

  #uploadOf(target: SqliteTarget, user: UserId): string | undefined {
    const path = relative(this.#own(user), this.#pathOf(target, user)).split(sep).join("/")
    return this.#kept && uploadAt(path) ? path : undefined
  }

  #own = (user: UserId): string => join(this.#root, user)

  /** `shop.db` is in one's own folder, `shared/shop.db` in everybody's; a whole path is taken as it is, and judged as all are. */
  #pathOf({ path }: SqliteTarget, user: UserId): string {
    if (isAbsolute(path)) return resolve(path)
    const [first] = path.split(/[/\\]/)
    return first === "shared" || first === user ? resolve(this.#root, path) : resolve(this.#root + sep + user, path)
  }
}
