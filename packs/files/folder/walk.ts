import { type BigIntStats, closeSync, fstatSync, readlinkSync, statfsSync } from "node:fs"
import { join } from "node:path"
import { isInside } from "./find-program.ts"
import { fileRefusal } from "./folder.ts"
import type { Directory, DirectoryLookup } from "./directory-lookup.ts"
import { displayName } from "./display-name.ts"

const MAX_LINKS = 40
const MAX_PARTS = 256
/** Types of file systems that expose the kernel instead of files. */
const KERNEL_FILE_SYSTEMS = new Set([0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x63677270, 0x1cd1, 0x19800202])

/** The end of a path: its last directory, its name there, and the type of the entry. */
export interface PathEnd {
  readonly directory: Directory
  /** Empty if the path is the folder itself. */
  readonly name: string
  /** The path from the folder, with links resolved. */
  readonly path: readonly string[]
  /** It is a link that was not followed. */
  readonly isLink: boolean
  /** Undefined if the entry does not exist, and for a link. */
  readonly open: { readonly fd: number; readonly stat: BigIntStats } | undefined
}

export interface Roots {
  readonly lookup: DirectoryLookup
  /** Stays open as long as the folder. */
  readonly root: Directory
  readonly rootPath: string
  /**
   * Relative to the root: paths inside it that are excluded, such as Pawl's data if the work folder is the user's home.
   */
  readonly excluded: readonly string[]
}

/**
 * Resolves a path name by name, opening each in the directory before it, and passes the end to `use`. Links are
 * resolved here by their text, so that none leads out: `..` is the previous directory, and an absolute target inside the
 * folder is resolved from its root. Everything opened is closed when `use` ends. `last`: whether a link at the end is
 * followed, too.
 */
export function walk<T>(roots: Roots, path: string, use: (place: PathEnd) => T, last: "follow" | "keep" = "follow"): T {
  const { lookup, root, rootPath } = roots
  const opened: number[] = []
  let trail: Directory[] = [root]
  const parts = toParts(path, rootPath)
  let links = 0
  const here = () => trail.at(-1) ?? root

  try {
    while (parts.length > 0) {
      const name = parts.shift() ?? ""
      if (name === "" || name === ".") continue
      if (name === "..") {
        if (trail.length === 1) throw outside(path)
        trail.pop()
        continue
      }
      const directory = here()
      const found = lookup.open(directory, name)
      const isLast = parts.every((part) => part === "" || part === ".")
      if (found === "link" && isLast && last === "keep") {
        requireInside(roots, directory, path)
        return use({ directory, name, path: [...directory.path, name], open: undefined, isLink: true })
      }
      if (found === "link") {
        if (++links > MAX_LINKS) throw fileRefusal(`${displayName(path)} has too many links`)
        const target = readlinkSync(lookup.at(directory, name))
        if (target.startsWith("/")) trail = [root]
        parts.unshift(...toParts(target, rootPath, path))
        continue
      }
      if (found) opened.push(found.fd)
      if (found?.stat.isDirectory()) {
        trail.push({ fd: found.fd, path: [...directory.path, name] })
        if (!isLast) continue
      } else if (!isLast) {
        const problem = found ? "is not a directory" : "does not exist; list_directory lists the files"
        throw fileRefusal(`${displayName([...directory.path, name].join("/"))} ${problem}`)
      }
      requireInside(roots, directory, path)
      if (found) requireUnmoved(roots, { ...found, path: [...directory.path, name] }, path)
      return use({ directory, name, path: [...directory.path, name], open: found, isLink: false })
    }
    const directory = here()
    requireInside(roots, directory, path)
    const parent = trail.at(-2) ?? root
    const stat = fstatSync(directory.fd, { bigint: true })
    const open = { fd: directory.fd, stat }
    return use({ directory: parent, name: directory.path.at(-1) ?? "", path: directory.path, open, isLink: false })
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** Checks that the opened entry was not moved out of the folder, or swapped, in the meantime. */
function requireUnmoved(
  roots: Roots,
  open: { fd: number; stat: BigIntStats; path: readonly string[] },
  path: string,
): void {
  if (!open.stat.isFile() && !open.stat.isDirectory()) return // never read, so it does not matter where it is
  requireInside(roots, open, path)
  // A mounted file system that exposes the kernel, such as `/proc`.
  const { dev } = fstatSync(roots.root.fd, { bigint: true })
  if (
    open.stat.dev !== dev &&
    process.platform === "linux" &&
    KERNEL_FILE_SYSTEMS.has(statfsSync(`/proc/self/fd/${open.fd}`).type)
  )
    throw fileRefusal(`${displayName(path)} is not a file of this folder, but of the system`)
}

export function requireInside({ lookup, root, excluded }: Roots, opened: Directory, path: string): void {
  const rootNow = lookup.currentPath(root.fd, root.path)
  const now = lookup.currentPath(opened.fd, opened.path)
  if (rootNow === undefined || now === undefined || !isInside(now, rootNow)) throw outside(path)
  if (excluded.some((path) => isInside(now, join(rootNow, path)))) throw outside(path)
}

function toParts(path: string, rootPath: string, original = path): string[] {
  if (path.includes("\0")) throw fileRefusal("A path cannot contain a NUL")
  if (path.startsWith("/")) {
    // Compares whole names: `/home/ada/work-old` is not inside `/home/ada/work`.
    if (!isInside(path, rootPath)) throw outside(original)
    return toParts(path.slice(rootPath.length).replace(/^\/+/, ""), rootPath, original)
  }
  const parts = path.split("/")
  if (parts.length > MAX_PARTS) throw fileRefusal(`${displayName(original.slice(0, 200))} … has too many parts`)
  return parts
}

const outside = (path: string) =>
  fileRefusal(`${displayName(path.slice(0, 500))} is outside the work folder. Pawl accesses only paths inside it`)
