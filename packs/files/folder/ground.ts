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

/** A directory that is open. `path`: its name from the root on, as we came here. */
export interface Directory {
  readonly fd: number
  readonly path: readonly string[]
}

/** How names are looked up in an open directory: all that differs between systems. */
export interface DirectoryLookup {
  readonly heldBy: "descriptors" | "names"
  /** An address of `name` in this directory, whatever the directory is called by now. */
  at(directory: Directory, name: string): string
  /** Opens what is there without following, blocking or waking it; undefined for nothing. A link has no descriptor. */
  open(directory: Directory, name: string): { readonly fd: number; readonly stat: BigIntStats } | "link" | undefined
  /** For reading, what `open` gave. */
  reopen(fd: number, directory: Directory, name: string): number
  /** The current path of an open descriptor. */
  whereIs(fd: number, said: readonly string[]): string | undefined
}

/** Linux: opens without the right to read, and without any effect on what is opened. Node does not name it. */
const O_PATH = 0o10000000
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_DIRECTORY } = constants

/**
 * Linux. A directory is addressed by its descriptor (`/proc/self/fd/7/name`), so that a name is looked up in the directory
 * that was opened and in no other, as `openat` does; and what was opened is opened for reading by its descriptor again.
 */
export const byDescriptors: DirectoryLookup = {
  heldBy: "descriptors",
  at: ({ fd }, name) => `/proc/self/fd/${fd}/${name}`,
  open(directory, name) {
    const fd = orMissing(() => openSync(this.at(directory, name), O_PATH | O_NOFOLLOW))
    if (fd === undefined) return undefined
    const stat = fstatSync(fd, { bigint: true })
    if (!stat.isSymbolicLink()) return { fd, stat }
    closeSync(fd)
    return "link"
  },
  reopen: (fd) => openSync(`/proc/self/fd/${fd}`, O_RDONLY | O_NONBLOCK | O_NOCTTY),
  whereIs(fd) {
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
    heldBy: "names",
    at: ({ path }, name) => join(pathOf(path), name),
    open(directory, name) {
      const path = this.at(directory, name)
      const seen = orMissing(() => lstatSync(path, { bigint: true }))
      if (!seen) return undefined
      if (seen.isSymbolicLink()) return "link"
      // Never opened: it could block, or do something. The descriptor of the directory stands in for it.
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
    whereIs(fd, said) {
      const path = realpathSync(pathOf(said))
      const [open, named] = [fstatSync(fd, { bigint: true }), lstatSync(path, { bigint: true })]
      return open.ino === named.ino && open.dev === named.dev ? path : undefined
    },
  }
}

export const DIRECTORY = O_RDONLY | (O_DIRECTORY ?? 0)

function orMissing<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENXIO") return undefined
    throw error
  }
}
