import { randomBytes } from "node:crypto"
import type { Folder } from "./folder.ts"
import { whyProtected } from "./protected-paths.ts"

const DEEPEST = 8
const MOST_LOOKED_AT = 50_000
/** Full of other people's projects, and none of them ours to guard. */
const PASSED_OVER = new Set(["node_modules"])

/** The outermost paths of a folder that are always asked about. */
export function protectedIn(folder: Folder): string[] {
  const found: string[] = []
  let looked = 0
  const look = (at: string, depth: number): void => {
    for (const { name, type } of listed(folder, at)) {
      if (++looked > MOST_LOOKED_AT) return
      const path = at === "" ? name : `${at}/${name}`
      if (whyProtected(name)) found.push(path)
      else if (type === "directory" && depth < DEEPEST && !PASSED_OVER.has(name)) look(path, depth + 1)
    }
  }
  look("", 0)
  return found
}

/**
 * Gives what a command has made, and nobody was asked about, a name under which nothing runs it. What was there before
 * it could not change: the sandbox holds those.
 */
export function setAside(folder: Folder, before: readonly string[]): { readonly path: string; readonly to: string }[] {
  const known = new Set(before)
  return protectedIn(folder)
    .filter((path) => !known.has(path))
    .map((path) => {
      const to = `${path.replace(/[^/]*$/, "")}put-aside-${randomBytes(4).toString("hex")}`
      folder.move(path, to)
      return { path, to }
    })
}

function listed(folder: Folder, path: string) {
  try {
    return folder.list(path === "" ? "." : path, MOST_LOOKED_AT).entries
  } catch {
    return [] // not ours to open, or gone
  }
}
