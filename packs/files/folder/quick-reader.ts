import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import { isInside } from "./find-program.ts"
import type { Folder } from "./folder.ts"

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants

/**
 * Reads many files in a row, as a search does. `Folder.read` walks the whole path and checks it before and after each
 * file. Here a directory is opened once, and its files are opened by name relative to it. The requirements for a file
 * are the same: not a link, on the file system of the folder, in a directory that is in the folder at the moment of the
 * read. The last is checked only if the bytes are wanted. All other cases, and other systems, use `Folder.read`.
 * Callers pass names that were listed as files: one that has become a pipe since then is opened without blocking, and
 * not read.
 */
export class QuickReader implements Disposable {
  readonly #folder: Folder
  readonly #most: number
  readonly #device: number
  readonly #buffer: Buffer
  #directory: { readonly path: string; readonly fd: number; readonly where: string; close(): void } | undefined

  /** `most`: the most bytes of a file. */
  constructor(folder: Folder, most: number) {
    this.#folder = folder
    this.#most = most
    this.#buffer = Buffer.allocUnsafe(most + 1)
    this.#device = statSync(folder.root, { throwIfNoEntry: false })?.dev ?? -1
  }

  /**
   * Returns the file's bytes, valid until the next call. `large`: it exceeds the limit. Undefined if it cannot be read
   * or its bytes are not wanted.
   */
  read(path: string, isWanted: (bytes: Buffer) => boolean = always): Buffer | "large" | undefined {
    const slash = path.lastIndexOf("/")
    const directory =
      this.#folder.lookup === "descriptors" ? this.#enter(slash === -1 ? "." : path.slice(0, slash)) : undefined
    const quickly = directory && this.#quickly(directory, path.slice(slash + 1), isWanted)
    if (quickly === "unwanted") return undefined
    const bytes = quickly ?? this.#slowly(path)
    return bytes === quickly || bytes === "large" || (bytes && isWanted(bytes)) ? bytes : undefined
  }

  [Symbol.dispose](): void {
    this.#directory?.close()
    this.#directory = undefined
  }

  #enter(path: string): { readonly fd: number; readonly where: string } | undefined {
    if (this.#directory?.path === path) return this.#directory
    this[Symbol.dispose]()
    try {
      const { fd, close } = this.#folder.openDirectory(path)
      this.#directory = { path, fd, close, where: readlinkSync(`/proc/self/fd/${fd}`) }
    } catch {
      return undefined
    }
    const { where } = this.#directory
    const { root, excluded } = this.#folder
    const isOurs = isInside(where, root) && !excluded.some((each) => isInside(where, join(root, each)))
    // The directory or the folder was moved since it was opened: every file is then read by its whole path.
    return isOurs ? this.#directory : undefined
  }

  /** Undefined if the slow path is needed. */
  #quickly(
    { fd, where }: { readonly fd: number; readonly where: string },
    name: string,
    isWanted: (bytes: Buffer) => boolean,
  ): Buffer | "large" | "unwanted" | undefined {
    let open: number | undefined
    try {
      open = openSync(`/proc/self/fd/${fd}/${name}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
      const stat = fstatSync(open)
      if (!stat.isFile() || stat.dev !== this.#device) return undefined
      if (stat.size > this.#most) return "large"
      const bytes = this.#readAll(open, stat.size)
      if (bytes === "large") return bytes
      if (!isWanted(bytes)) return "unwanted"
      // Checks that the directory was not moved out of the folder in the meantime.
      return readlinkSync(`/proc/self/fd/${fd}`) === where ? bytes : undefined
    } catch {
      return undefined
    } finally {
      if (open !== undefined) closeSync(open)
    }
  }

  /** A file of exactly the reported size needs no second read to find its end. */
  #readAll(fd: number, reportedSize: number): Buffer | "large" {
    for (let size = 0; ;) {
      const count = readSync(fd, this.#buffer, size, this.#buffer.length - size, null)
      size += count
      if (size > this.#most) return "large" // it grows while it is read
      if (count === 0 || (size === reportedSize && size > 0)) return this.#buffer.subarray(0, size)
    }
  }

  #slowly(path: string): Buffer | "large" | undefined {
    try {
      const found = this.#folder.find(path)
      if (found?.type === "file" && found.size > this.#most) return "large"
      return this.#folder.read(path, this.#most).bytes
    } catch {
      return undefined // deleted, locked or not a file: the search continues without it
    }
  }
}

const always = () => true
