import { randomBytes } from "node:crypto"
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { failure } from "../../../core/pack.ts"
import { type Expected, type FileBytes, fileRefusal } from "./folder.ts"
import { DIRECTORY, type Directory } from "./directory-lookup.ts"
import { displayName } from "./display-name.ts"
import { type PathEnd, requireInside, type Roots, walk } from "./walk.ts"

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
/** A replaced or deleted file is read completely first, to compare and store it. */
export const MAX_REPLACED = 32 * 1024 * 1024

type ReadBytes = (place: PathEnd, most: number) => FileBytes

/** Changes in a folder. Each uses names in an opened directory, which is checked again before the last step. */
export class LocalWrites {
  readonly #roots: Roots
  readonly #bytes: ReadBytes

  constructor(roots: Roots, bytes: ReadBytes) {
    this.#roots = roots
    this.#bytes = bytes
  }

  /**
   * Writes to a draft file, syncs it, then renames it: a crash leaves the old file or the new one, never a partial one.
   */
  write(path: string, bytes: Buffer, { expect, mode }: { readonly expect: Expected; readonly mode?: number }): void {
    walk(this.#roots, path, (place) => {
      const before = this.#require(place, expect, path)
      const { directory, name } = place
      this.#sweep(directory)
      const draft = this.#at(directory, draftName())
      const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0), before ? 0o600 : (mode ?? 0o666))
      try {
        try {
          writeAll(fd, bytes)
          if (before || mode !== undefined) fchmodSync(fd, mode ?? before?.mode ?? 0o644)
          if (before) keepOwner(fd, place)
          fsyncSync(fd)
        } finally {
          closeSync(fd)
        }
        requireInside(this.#roots, directory, path)
        this.#publish(draft, this.#at(directory, name), before !== undefined)
      } catch (error) {
        removeQuietly(draft)
        throw error
      }
      this.#syncDirectory(directory)
    })
  }

  remove(path: string, expect: Expected): void {
    walk(
      this.#roots,
      path,
      (place) => {
        const before = this.#require(place, expect, path)
        if (!before) throw stale(path)
        const { directory, name, open } = place
        this.#sweep(directory)
        // Renamed first and checked before it is deleted: another file may have got its name since the last check.
        const renamed = draftName()
        requireInside(this.#roots, directory, path)
        renameSync(this.#at(directory, name), this.#at(directory, renamed))
        const moved = this.#roots.lookup.open(directory, renamed)
        const same = moved !== undefined && moved !== "link" && moved.stat.ino === open?.stat.ino
        if (moved !== undefined && moved !== "link") closeSync(moved.fd)
        if (!same) {
          renameSync(this.#at(directory, renamed), this.#at(directory, name))
          throw stale(path)
        }
        unlinkSync(this.#at(directory, renamed))
        this.#syncDirectory(directory)
      },
      "keep",
    )
  }

  /** Deletes drafts that a crash left in the directory of this file. */
  sweepBeside(path: string): void {
    walk(this.#roots, path, ({ directory }) => this.#sweep(directory), "keep")
  }

  #sweep(directory: Directory): void {
    for (const name of readdirSync(this.#at(directory, ".")))
      if (isStaleDraft(name)) removeQuietly(this.#at(directory, name))
  }

  move(from: string, to: string): void {
    const { lookup } = this.#roots
    walk(
      this.#roots,
      from,
      (source) => {
        if (!source.open && !source.isLink)
          throw fileRefusal(`${displayName(from)} does not exist; list_directory lists the files`)
        if (source.name === "") throw fileRefusal("The work folder itself cannot be moved")
        walk(
          this.#roots,
          to,
          (target) => {
            if (target.open || target.isLink)
              throw fileRefusal(`${displayName(to)} exists already; delete or move it first`)
            requireReal(source, from)
            requireReal(target, to)
            requireInside(this.#roots, source.directory, from)
            requireInside(this.#roots, target.directory, to)
            renameSync(lookup.at(source.directory, source.name), lookup.at(target.directory, target.name))
            this.#syncDirectory(target.directory)
            this.#syncDirectory(source.directory)
          },
          "keep",
        )
      },
      "keep",
    )
  }

  makeDirectory(path: string): void {
    walk(this.#roots, path, (place) => {
      const { directory, name, open } = place
      requireReal(place, path)
      if (open) throw fileRefusal(`${displayName(path)} exists already`)
      requireInside(this.#roots, directory, path)
      mkdirSync(this.#at(directory, name))
      this.#syncDirectory(directory)
    })
  }

  removeDirectory(path: string): void {
    walk(
      this.#roots,
      path,
      (place) => {
        const { directory, name, open } = place
        requireReal(place, path)
        if (name === "" || !open?.stat.isDirectory())
          throw fileRefusal(`${displayName(path)} is not a directory that can be removed`)
        requireInside(this.#roots, directory, path)
        rmdirSync(this.#at(directory, name))
        this.#syncDirectory(directory)
      },
      "keep",
    )
  }

  /** Deletes an entry that is not a file. `isExpected` checks its identity again. */
  removeEntry(path: string, isExpected: () => boolean): void {
    const isDirectory = walk(
      this.#roots,
      path,
      (place) => {
        const { directory, name, open, isLink } = place
        requireReal(place, path)
        if (name === "" || (!isLink && (!open || open.stat.isFile())) || !isExpected()) throw stale(path)
        if (open?.stat.isDirectory()) return true
        const at = this.#at(directory, name)
        const seen = lstatSync(at, { bigint: true })
        // Renamed and checked first, as with a file.
        const aside = this.#at(directory, draftName())
        requireInside(this.#roots, directory, path)
        renameSync(at, aside)
        const moved = lstatSync(aside, { bigint: true })
        if (moved.ino !== seen.ino || moved.isFile() || moved.isDirectory()) {
          renameSync(aside, at)
          throw stale(path)
        }
        unlinkSync(aside)
        this.#syncDirectory(directory)
        return false
      },
      "keep",
    )
    // The system itself refuses a directory that is not empty.
    if (isDirectory) this.removeDirectory(path)
  }

  /** Returns the file if it is the one that was shown; throws `row_stale` otherwise. */
  #require(place: PathEnd, expect: Expected, path: string): FileBytes | undefined {
    requireReal(place, path)
    if (place.name === "" || place.isLink)
      throw fileRefusal(`${displayName(path)} is ${place.isLink ? "a link" : "the folder itself"}`)
    const before = place.open ? this.#bytes(place, MAX_REPLACED) : undefined
    if ((before?.hash ?? "absent") !== expect) throw stale(path)
    return before
  }

  #publish(draft: string, target: string, replaces: boolean): void {
    if (replaces) return renameSync(draft, target)
    try {
      // Unlike a rename, it fails if a file with that name was just created.
      linkSync(draft, target)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error
      return renameSync(draft, target) // a file system without links
    }
    unlinkSync(draft)
  }

  #at(directory: Directory, name: string): string {
    return this.#roots.lookup.at(directory, name)
  }

  /** Syncs the directory, because a new name is durable only then. */
  #syncDirectory(directory: Directory): void {
    const { lookup } = this.#roots
    if (lookup.kind === "names") return // not every system can open a directory for this
    const fd = openSync(`/proc/self/fd/${directory.fd}`, DIRECTORY)
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
}

/** The preview showed this path; a link would lead to another one. */
function requireReal({ path }: PathEnd, expected: string): void {
  if (path.join("/") !== expected) throw stale(expected)
}

const draftName = () => `.pawl-${process.pid}-${randomBytes(9).toString("base64url")}.tmp`

/** True if a name is that of a draft whose process has ended. */
function isStaleDraft(name: string): boolean {
  const [, pid] = /^\.pawl-(\d+)-[\w-]{12}\.tmp$/.exec(name) ?? []
  if (pid === undefined || Number(pid) === process.pid) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}

const stale = (path: string) => failure("row_stale", { noun: "file", id: displayName(path), columns: "the content" })

function writeAll(fd: number, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length;) offset += writeSync(fd, bytes, offset)
}

/** Keeps the owner of a replaced file. Only root can change it, and only root would otherwise become the owner. */
function keepOwner(fd: number, { open }: PathEnd): void {
  if (!open || process.getuid?.() !== 0) return
  fchownSync(fd, Number(open.stat.uid), Number(open.stat.gid))
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It was never created, or has its final name.
  }
}
