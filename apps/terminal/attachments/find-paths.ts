import { opendir, stat } from "node:fs/promises"
import { join } from "node:path"
import { resolvePath } from "./file-references.ts"

export interface PathMatch {
  /** The completed path, as it would be typed. */
  readonly path: string
  readonly name: string
  readonly isFolder: boolean
}

/** A folder may have millions of entries: the first limit is for those read, the second for those that match. */
const MAX_READ = 20_000
const MAX_FOUND = 500
/** Symbolic links that are resolved. */
const MAX_LINKS = 50

/**
 * Files and folders whose path starts with the typed one, ignoring case, sorted by name. Hidden ones only if the dot
 * was typed. An unreadable folder is empty.
 */
export async function findPaths(written: string, signal: AbortSignal): Promise<readonly PathMatch[]> {
  if (written === "~") return [{ path: "~/", name: "~", isFolder: true }]
  const cut = written.lastIndexOf("/") + 1
  const [head, typed] = [written.slice(0, cut), normalizedName(written.slice(cut))]
  const folder = resolvePath(head === "" ? "." : head)
  const matches: PathMatch[] = []
  let [read, links] = [0, 0]
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      if (signal.aborted || ++read > MAX_READ || matches.length >= MAX_FOUND) break
      const { name } = entry
      if (!normalizedName(name).startsWith(typed) || (name.startsWith(".") && !typed.startsWith("."))) continue
      // A name with a line break or control character cannot be typed.
      if (/\p{Cc}/u.test(name)) continue
      const isLink = entry.isSymbolicLink()
      if (isLink && ++links > MAX_LINKS) continue
      const end = isLink ? await stat(join(folder, name)).catch(() => undefined) : entry
      if (end?.isDirectory()) matches.push({ path: `${head}${name}/`, name: `${name}/`, isFolder: true })
      else if (end?.isFile()) matches.push({ path: `${head}${name}`, name, isFolder: false })
    }
  } catch {
    // Missing or unreadable.
  }
  return matches.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** The longest common prefix. */
export function commonStart(paths: readonly string[]): string {
  const [first = "", ...others] = paths
  const signs = [...first]
  let length = signs.length
  for (const other of others) {
    const theirs = [...other]
    let same = 0
    while (same < length && normalizedName(signs[same]!) === normalizedName(theirs[same] ?? "")) same++
    length = same
  }
  return signs.slice(0, length).join("")
}

/** macOS stores an accent as a separate character. */
const normalizedName = (name: string): string => name.normalize("NFC").toLowerCase()
