import { existsSync } from "node:fs"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import type { SqliteTarget, StoredBytes, UserId } from "../../../core/pack.ts"
import type { DatabaseUse } from "../database/kind.ts"
import type { StoredUploads } from "./stored-uploads.ts"
import type { OwnDisk } from "./own-disk.ts"
import { MAX_UPLOADED_BYTES, sizeOf, uploadAt, uploadedBytes } from "./upload-path.ts"

/** A file on this machine, and the folders in which it may lie. */
export interface FilePlace {
  readonly path: string
  readonly folders: readonly string[]
}

/** A file that may be changed where it lies; or a copy of what the store has, whose bytes have to be put in its place. */
export interface ChangePlace extends FilePlace {
  readonly copyOf?: { readonly path: string; readonly stored: StoredBytes }
  /** How large a change may make a database that was made of an upload: with its person's other ones it has a limit. */
  readonly mostBytes?: number
}

/** For several machines with one store: it contains the uploads, and records which disk has the other files. */
export interface SharedPlaces {
  readonly uploads: StoredUploads
  readonly disk: OwnDisk
}

/** Locates users' files: those that an operator placed on this machine, and uploads, which may be in the store. */
export class FilePlaces {
  readonly #root: string
  readonly #shared: SharedPlaces | undefined
  readonly #mostUploaded: number

  /** Files lie in the folders `<user>` and `shared` of `root`. `mostUploaded`: see `MAX_UPLOADED_BYTES`. */
  constructor(root: string, shared?: SharedPlaces, mostUploaded = MAX_UPLOADED_BYTES) {
    this.#root = root
    this.#shared = shared
    this.#mostUploaded = mostUploaded
  }

  /** Only what is the person's own may be changed: a file of everybody is not one person's to change. */
  isOwn(target: SqliteTarget, user: UserId): boolean {
    return this.#pathOf(target, user).startsWith(this.#own(user) + sep)
  }

  async reading({ target, user }: DatabaseUse<SqliteTarget>): Promise<FilePlace> {
    const path = this.#pathOf(target, user)
    const folders = [this.#own(user), join(this.#root, "shared")]
    if (!this.#shared) return { path, folders }
    const { uploads, disk } = this.#shared
    const name = this.#nameOf(target, user)
    const file = isUpload(name) ? await uploads.fetch(user, name) : undefined
    if (!file && this.isOwn(target, user)) await disk.demandRead(user, name)
    return { path: file?.local ?? path, folders: [...folders, uploads.folderOf(user)] }
  }

  /** `lasting`: what the work changes is to stay, so that from now on the file is the one on this disk. */
  async changing<T>(
    { target, user }: DatabaseUse<SqliteTarget>,
    work: (where: ChangePlace) => Promise<T>,
    lasting = false,
  ): Promise<T> {
    const inPlace = { path: this.#pathOf(target, user), folders: [this.#own(user)] }
    const name = this.#nameOf(target, user)
    if (!this.#shared) {
      if (!isUpload(name)) return work(inPlace)
      const others = (await uploadedBytes(this.#own(user))) - (await sizeOf(inPlace.path))
      return work({ ...inPlace, mostBytes: this.#mostUploaded - others })
    }
    const { uploads, disk } = this.#shared
    if (!isUpload(name)) {
      // A file that does not exist or belongs to another user is refused when it is opened.
      if (lasting && this.isOwn(target, user) && existsSync(inPlace.path)) await disk.demandChange(user, name)
      else await disk.demandRead(user, name)
      return work(inPlace)
    }
    const all = await uploads.files.bytesOf(user)
    const done = await uploads.withCopy(user, name, async ({ local, stored }) => {
      const mostBytes = this.#mostUploaded - (all - stored.size)
      const copy = { path: local, folders: [uploads.folderOf(user)], copyOf: { path: name, stored }, mostBytes }
      return { value: await work(copy) }
    })
    return done ? done.value : work(inPlace) // it does not exist, which opening it reports
  }

  /** As seen from the person's own folder, however a connection names it. */
  #nameOf(target: SqliteTarget, user: UserId): string {
    return relative(this.#own(user), this.#pathOf(target, user)).split(sep).join("/")
  }

  #own = (user: UserId): string => join(this.#root, user)

  /** `shop.db` is in one's own folder, `shared/shop.db` in everybody's; a whole path is taken as it is, and judged as all are. */
  #pathOf({ path }: SqliteTarget, user: UserId): string {
    if (isAbsolute(path)) return resolve(path)
    const [first] = path.split(/[/\\]/)
    return first === "shared" || first === user ? resolve(this.#root, path) : resolve(this.#root + sep + user, path)
  }
}

const isUpload = (name: string): boolean => uploadAt(name) !== undefined
