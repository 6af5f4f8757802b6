import { existsSync } from "node:fs"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import type { SqliteTarget, StoredBytes, UserId } from "../../../core/pack.ts"
import type { DatabaseUse } from "../database/kind.ts"
import type { StoredUploads } from "./stored-uploads.ts"
import type { DiskOwnership } from "./disk-ownership.ts"
import { MAX_UPLOADED_BYTES, sizeOf, uploadAt, uploadedBytes } from "./upload-path.ts"

/** A file on this machine, and the folders that may contain it. */
export interface FilePlace {
  readonly path: string
  readonly folders: readonly string[]
}

/** A file to change in place, or a copy of a stored file, whose bytes must be replaced afterwards. */
export interface ChangePlace extends FilePlace {
  readonly copyOf?: { readonly path: string; readonly stored: StoredBytes }
  /** The maximum size of an upload's database after a change, because a user's uploads have a limit. */
  readonly mostBytes?: number
}

/** For several machines with one store: it contains the uploads, and records which disk has the other files. */
export interface SharedFileStorage {
  readonly uploads: StoredUploads
  readonly disk: DiskOwnership
}

/** Locates users' files: those that an operator placed on this machine, and uploads, which may be in the store. */
export class FilePlaces {
  readonly #root: string
  readonly #shared: SharedFileStorage | undefined
  readonly #mostUploaded: number

  /** Files are in the folders `<user>` and `shared` of `root`. `mostUploaded`: see `MAX_UPLOADED_BYTES`. */
  constructor(root: string, shared?: SharedFileStorage, mostUploaded = MAX_UPLOADED_BYTES) {
    this.#root = root
    this.#shared = shared
    this.#mostUploaded = mostUploaded
  }

  /** Only a person's own files may be changed, not shared ones. */
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

  /** `lasting`: the change is committed, so the file of this disk is the valid one from now on. */
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

  /** The path relative to the person's own folder, however a connection writes it. */
  #nameOf(target: SqliteTarget, user: UserId): string {
    return relative(this.#own(user), this.#pathOf(target, user)).split(sep).join("/")
  }

  #own = (user: UserId): string => join(this.#root, user)

  /**
   * `shop.db` is in the person's folder, `shared/shop.db` in the shared one. An absolute path is checked later, like
   * all paths.
   */
  #pathOf({ path }: SqliteTarget, user: UserId): string {
    if (isAbsolute(path)) return resolve(path)
    const [first] = path.split(/[/\\]/)
    return first === "shared" || first === user ? resolve(this.#root, path) : resolve(this.#root + sep + user, path)
  }
}

const isUpload = (name: string): boolean => uploadAt(name) !== undefined
