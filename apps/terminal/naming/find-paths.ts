import { opendir, stat } from "node:fs/promises"
import { join } from "node:path"
import { toPlace } from "./file-words.ts"

export interface NamedPath {
  /** As it would be written: what was begun, and the rest of the name. */
  readonly path: string
  readonly name: string
  readonly isFolder: boolean
}

/** Entries that are looked at in one folder, and those of them that fit which are kept: a folder may have millions. */
const MAX_LOOKED = 20_000
const MAX_FOUND = 500
/** Links whose end is looked at. */
const MAX_LINKS = 50

/**
 * Files and folders whose path begins as it was written, whatever its capitals, in the order of their names. Hidden ones where
 * their dot was written. What cannot be read has nothing in it.
 */
export async function findPaths(written: string, signal: AbortSignal): Promise<readonly NamedPath[]> {
  if (written === "~") return [{ path: "~/", name: "~", isFolder: true }]
  const cut = written.lastIndexOf("/") + 1
  const [head, begun] = [written.slice(0, cut), toCompared(written.slice(cut))]
  const folder = toPlace(head === "" ? "." : head)
  const found: NamedPath[] = []
  let [looked, links] = [0, 0]
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      if (signal.aborted || ++looked > MAX_LOOKED || found.length >= MAX_FOUND) break
      const { name } = entry
      if (!toCompared(name).startsWith(begun) || (name.startsWith(".") && !begun.startsWith("."))) continue
      // What cannot be written on a line cannot be named either.
      if (/\p{Cc}/u.test(name)) continue
      const isLink = entry.isSymbolicLink()
      if (isLink && ++links > MAX_LINKS) continue
      const end = isLink ? await stat(join(folder, name)).catch(() => undefined) : entry
      if (end?.isDirectory()) found.push({ path: `${head}${name}/`, name: `${name}/`, isFolder: true })
      else if (end?.isFile()) found.push({ path: `${head}${name}`, name, isFolder: false })
    }
  } catch {
    // Not there, or not theirs to read.
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** As far as all of them begin alike. */
export function commonStart(paths: readonly string[]): string {
  const [first = "", ...others] = paths
  const signs = [...first]
  let length = signs.length
  for (const other of others) {
    const theirs = [...other]
    let same = 0
    while (same < length && toCompared(signs[same]!) === toCompared(theirs[same] ?? "")) same++
    length = same
  }
  return signs.slice(0, length).join("")
}

/** Some systems write an accent as a sign of its own. */
const toCompared = (name: string): string => name.normalize("NFC").toLowerCase()
