import { createHash } from "node:crypto"
import {
  type BigIntStats,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { isInside } from "./find-program.ts"
import {
  type FolderEntry,
  type EntryType,
  type Expected,
  type FileBytes,
  type Folder,
  type FolderTrust,
  type FoundPath,
  fileHash,
  type Listed,
  fileRefusal,
} from "./folder.ts"
import { byDescriptors, byNames, DIRECTORY, type Directory, type DirectoryLookup } from "./directory-lookup.ts"
import { LocalWrites } from "./local-writes.ts"
import { MAX_NAMES, namesIn } from "./names-in.ts"
import { displayName } from "./display-name.ts"
import { type PathEnd, type Roots, walk } from "./walk.ts"
import { own } from "../../../core/pack.ts"

/**
 * The folder on this machine. `by`: the lookup to use, if the system offers both. `excluded`: paths that do not belong
 * to the folder even if they are in it, such as Pawl's own data. Without `trust` the folder is not trusted.
 */
export function openFolder(
  path: string,
  by: Folder["lookup"] = process.platform === "linux" ? "descriptors" : "names",
  excluded: readonly string[] = [],
  trust: FolderTrust = { isTrusted: false },
): Folder {
  const root = realpathSync(path)
  const places = excluded.map(expectedRealPath)
  if (places.some((place) => isInside(root, place)))
    throw fileRefusal(`${displayName(root)} contains Pawl's own data, which tools must not access`)
  const fd = openSync(root, DIRECTORY)
  const lookup: DirectoryLookup = by === "descriptors" ? byDescriptors : byNames(root)
  return new LocalFolder({ lookup, root: { fd, path: [] }, rootPath: root, excluded: within(places, root), trust })
}

/** Short, and the same for the same real path. */
export const folderId = (root: string): string => createHash("sha256").update(root).digest("hex").slice(0, 16)

const within = (places: readonly string[], root: string) =>
  places.filter((place) => isInside(place, root)).map((place) => relative(root, place))

/** The real path of an entry that may not exist yet. */
function expectedRealPath(path: string): string {
  const above = dirname(resolve(path))
  if (existsSync(path)) return realpathSync(path)
  return above === resolve(path) ? above : join(expectedRealPath(above), basename(path))
}

class LocalFolder implements Folder {
  readonly root: string
  readonly id: string
  readonly trust: FolderTrust
  readonly lookup: Folder["lookup"]
  readonly excluded: readonly string[]
  readonly #roots: Roots
  readonly #writes: LocalWrites

  constructor({ trust, ...roots }: Roots & { readonly trust: FolderTrust }) {
    this.trust = trust
    this.root = roots.rootPath
    this.id = folderId(roots.rootPath)
    this.lookup = roots.lookup.kind
    this.excluded = roots.excluded
    this.#roots = roots
    this.#writes = new LocalWrites(roots, (place, most) => this.#bytes(place, most))
  }

  find(path: string): FoundPath | undefined {
    return withReadableErrors(path, () => walk(this.#roots, path, (place) => this.#found(place)))
  }

  kindOf(path: string): EntryType | undefined {
    const kind = ({ open, isLink }: PathEnd) => (isLink ? "link" : open && typeOf(open.stat))
    return withReadableErrors(path, () => walk(this.#roots, path, kind, "keep"))
  }

  identityOf(path: string): string | undefined {
    const own = ({ directory, name, open, isLink }: PathEnd) => {
      if (open) return identityIn(open.stat)
      if (!isLink) return undefined
      const at = this.#roots.lookup.at(directory, name)
      return `${identityIn(lstatSync(at, { bigint: true }))} ${readlinkSync(at)} ${this.#targetIdentity(path)}`
    }
    return withReadableErrors(path, () => walk(this.#roots, path, own, "keep"))
  }

  #targetIdentity(link: string): string {
    try {
      return walk(this.#roots, link, ({ open }) => (open ? identityIn(open.stat) : "nowhere"))
    } catch {
      return "outside" // or a cycle of links: its target is not ours to protect
    }
  }

  realPath(path: string, last: "follow" | "keep"): string {
    return withReadableErrors(path, () => walk(this.#roots, path, (place) => place.path.join("/"), last))
  }

  list(path: string, most: number, sizes: "sizes" | "no-sizes" = "sizes"): Listed {
    return withReadableErrors(path, () =>
      walk(this.#roots, path, ({ open, path: at }) => {
        if (!open) throw missing(path)
        if (!open.stat.isDirectory()) throw fileRefusal(`${displayName(path)} is a file; read_file reads it`)
        return this.#entries({ fd: open.fd, path: at }, most, sizes)
      }),
    )
  }

  read(path: string, most: number): FileBytes {
    return withReadableErrors(path, () => walk(this.#roots, path, (place) => this.#bytes(place, most)))
  }

  write(path: string, bytes: Buffer, how: { readonly expect: Expected; readonly mode?: number }): void {
    withReadableErrors(path, () => this.#writes.write(path, bytes, how))
  }

  remove(path: string, expect: Expected): void {
    withReadableErrors(path, () => this.#writes.remove(path, expect))
  }

  deleteStaleDrafts(path: string): void {
    withReadableErrors(path, () => this.#writes.sweepBeside(path))
  }

  move(from: string, to: string): void {
    withReadableErrors(from, () => this.#writes.move(from, to))
  }

  makeDirectory(path: string): void {
    withReadableErrors(path, () => this.#writes.makeDirectory(path))
  }

  removeDirectory(path: string): void {
    withReadableErrors(path, () => this.#writes.removeDirectory(path))
  }

  removeEntry(path: string, identity: string): void {
    withReadableErrors(path, () => this.#writes.removeEntry(path, () => this.identityOf(path) === identity))
  }

  linkText(path: string): string | undefined {
    const text = ({ directory, name, isLink }: PathEnd) =>
      isLink ? readlinkSync(this.#roots.lookup.at(directory, name)) : undefined
    return withReadableErrors(path, () => walk(this.#roots, path, text, "keep"))
  }

  openDirectory(path: string): { fd: number; close(): void } {
    return withReadableErrors(path, () =>
      walk(this.#roots, path, (place) => {
        if (!place.open?.stat.isDirectory()) throw fileRefusal(`${displayName(path)} is not a directory`)
        const fd = this.#reopen(place)
        return { fd, close: () => closeSync(fd) }
      }),
    )
  }

  [Symbol.dispose](): void {
    closeSync(this.#roots.root.fd)
  }

  #reopen({ open, directory, name }: PathEnd): number {
    return this.#roots.lookup.reopen(open?.fd ?? -1, directory, name || ".")
  }

  #bytes(place: PathEnd, most: number): FileBytes {
    const found = this.#found(place)
    const name = displayName(place.path.join("/"))
    if (!found) throw missing(place.path.join("/"))
    if (found.type === "directory") throw fileRefusal(`${name} is a directory; list_directory lists it`)
    if (found.type !== "file") throw fileRefusal(`${name} is a pipe, a socket or a device: it is never opened`)
    if (found.size > most) throw fileRefusal(`${name} has ${found.size} bytes, and at most ${most} are read at once`)
    const fd = this.#reopen(place)
    try {
      const now = fstatSync(fd, { bigint: true })
      // Without descriptor paths it was opened a second time, so it must be the same file.
      if (now.ino !== place.open?.stat.ino || now.dev !== place.open.stat.dev || !now.isFile())
        throw fileRefusal(`${name} was swapped for another file while it was opened; try again`)
      const bytes = readAll(fd, most)
      return { ...found, size: bytes.length, bytes, hash: fileHash(bytes) }
    } finally {
      closeSync(fd)
    }
  }

  #found({ open, path, directory }: PathEnd): FoundPath | undefined {
    if (!open) return undefined
    const { stat } = open
    const type = typeOf(stat)
    const hasOutsideLinks = type === "file" && stat.nlink > 1n && this.#namesOf(stat.ino, directory) < stat.nlink
    return { type, path: path.join("/"), size: Number(stat.size), mode: Number(stat.mode & 0o7777n), hasOutsideLinks }
  }

  /**
   * Counts the names of a file in its directory. If these are all, none is outside. A draft left by a crash counts too.
   */
  #namesOf(ino: bigint, directory: Directory): bigint {
    let names = 0n
    for (const { name } of this.#entries(directory, MAX_NAMES, "no-sizes").entries) {
      const stat = lstatSync(this.#roots.lookup.at(directory, name), { bigint: true, throwIfNoEntry: false })
      if (stat?.ino === ino) names++
    }
    return names
  }

  #entries(listed: Directory, most: number, sizes: "sizes" | "no-sizes"): Listed {
    const { lookup } = this.#roots
    const at = lookup.at(listed, ".")
    const { names, isTruncated } = namesIn(at, fstatSync(listed.fd).size)
    const found = names.map((entry) => ({
      name: Buffer.from(entry.name, "latin1").toString("utf8"),
      type: typeOf(entry),
      raw: entry.name,
    }))
    found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    const entries = found.slice(0, most).map(({ name, type, raw }): FolderEntry => {
      if (type !== "file") return { name, type, size: 0 }
      // A name that is not UTF-8 cannot be requested, so it is not a readable file.
      if (Buffer.from(name, "utf8").toString("latin1") !== raw) return { name, type: "other", size: 0 }
      return { name, type, size: sizes === "sizes" ? sizeOf(`${at}/${name}`) : 0 }
    })
    return { entries, more: found.length - entries.length, isTruncated }
  }
}

function readAll(fd: number, most: number): Buffer {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024)
    const count = readSync(fd, chunk)
    if (count === 0) return Buffer.concat(chunks, size)
    size += count
    // The file grows while it is read, such as a log.
    if (size > most) throw fileRefusal(`it grows beyond ${most} bytes while it is read`)
    chunks.push(chunk.subarray(0, count))
  }
}

function typeOf(of: Pick<Stats | BigIntStats, "isFile" | "isDirectory" | "isSymbolicLink">): EntryType {
  return of.isFile() ? "file" : of.isDirectory() ? "directory" : of.isSymbolicLink() ? "link" : "other"
}

const identityIn = (stat: BigIntStats) => `${stat.dev}:${stat.ino}:${typeOf(stat)}`

function sizeOf(path: string): number {
  try {
    return lstatSync(path).size
  } catch {
    return 0 // gone since it was listed
  }
}

export const missing = (path: string) =>
  fileRefusal(`${displayName(path)} does not exist; list_directory lists the files`)

/** Replaces system messages about paths, which contain internal addresses. */
function withReadableErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (typeof code !== "string" || typeof syscall !== "string") throw error
    throw fileRefusal(`${displayName(path)}: ${own(REASONS, code) ?? code}`)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENAMETOOLONG: "the name is too long",
  ENOTEMPTY: "the directory is not empty",
  EEXIST: "it exists already",
  EXDEV: "it lies on another file system",
  EMFILE: "too many files are open",
}
