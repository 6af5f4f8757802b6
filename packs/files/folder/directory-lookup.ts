import {
  closeSync,
  constants,
  type BigIntStats,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs"
import { join } from "node:path"

/** An open directory. `path`: the names from the root to it. */
export interface Directory {
  readonly fd: number
  readonly path: readonly string[]
}

/** How names are looked up in an open directory. Only this differs between systems. */
export interface DirectoryLookup {
  readonly kind: "descriptors" | "names"
  /** A path of `name` in this directory that stays valid if the directory is renamed. */
  at(directory: Directory, name: string): string
  /**
   * Opens an entry without following links, blocking or side effects; undefined if it does not exist. A link has no
   * descriptor.
   */
  open(directory: Directory, name: string): { readonly fd: number; readonly stat: BigIntStats } | "link" | undefined
  /** Opens the result of `open` for reading. */
  reopen(fd: number, directory: Directory, name: string): number
  /** The current path of an open descriptor. */
  currentPath(fd: number, path: readonly string[]): string | undefined
}

/** Linux: opens without permission to read and without side effects. Node has no constant for it. */
const O_PATH = 0o10000000
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_DIRECTORY } = constants

/**
 * Linux. A directory is addressed by its descriptor (`/proc/self/fd/7/name`), so a name is looked up in exactly the
 * directory that was opened, as with `openat`. An opened entry is opened for reading through its descriptor, too.
 */
export const byDescriptors: DirectoryLookup = {
  kind: "descriptors",
  at: ({ fd }, name) => `/proc/self/fd/${fd}/${name}`,
  open(directory, name) {
    const fd = undefinedIfMissing(() => openSync(this.at(directory, name), O_PATH | O_NOFOLLOW))
    if (fd === undefined) return undefined
    const stat = fstatSync(fd, { bigint: true })
    if (!stat.isSymbolicLink()) return { fd, stat }
    closeSync(fd)
    return "link"
  },
  reopen: (fd) => openSync(`/proc/self/fd/${fd}`, O_RDONLY | O_NONBLOCK | O_NOCTTY),
  currentPath(fd) {
    // A deleted file has no path: its address would end in ` (deleted)`, which could also be part of a name.
    if (fstatSync(fd).nlink === 0) return undefined
    return readlinkSync(`/proc/self/fd/${fd}`)
  },
}

/**
 * For systems without `/proc/self/fd`. The opened file is compared with the file at its path before and after, and the
 * system never follows links. Between the last check and a write, a process that swaps directories at the right moment
 * can still redirect it.
 */
export function byNames(root: string): DirectoryLookup {
  const pathOf = (path: readonly string[]) => join(root, ...path)
  return {
    kind: "names",
    at: ({ path }, name) => join(pathOf(path), name),
    open(directory, name) {
      const path = this.at(directory, name)
      const seen = undefinedIfMissing(() => lstatSync(path, { bigint: true }))
      if (!seen) return undefined
      if (seen.isSymbolicLink()) return "link"
      // Not opened, because that could block or have side effects. The descriptor of the directory is returned instead.
      if (!seen.isFile() && !seen.isDirectory()) return { fd: openSync(pathOf(directory.path), O_RDONLY), stat: seen }
      const fd = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
      const stat = fstatSync(fd, { bigint: true })
      if (stat.ino === seen.ino && stat.dev === seen.dev) return { fd, stat }
      closeSync(fd)
      return undefined
    },
    reopen(_fd, directory, name) {
      return openSync(this.at(directory, name), O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
    },
    currentPath(fd, path) {
      const real = realpathSync(pathOf(path))
      const [open, named] = [fstatSync(fd, { bigint: true }), lstatSync(real, { bigint: true })]
      return open.ino === named.ino && open.dev === named.dev ? real : undefined
    },
  }
}

export const DIRECTORY = O_RDONLY | (O_DIRECTORY ?? 0)

function undefinedIfMissing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENXIO") return undefined
    throw error
  }
}
