import { accessSync, constants, realpathSync, statSync } from "node:fs"
import { isAbsolute, join } from "node:path"

/**
 * Returns the absolute path of a program of the machine, or undefined. Ignores programs inside the work folder: a
 * search path often contains `node_modules/.bin`, a virtual environment or the current folder (`.`, an empty entry),
 * and a tool that only reads would run a `git` from there without approval.
 */
export function findProgram(name: string, searchPath: string, root: string): string | undefined {
  return trustedEntries(searchPath, root)
    .map((entry) => join(entry, name))
    .find((path) => isProgram(path) && !isInside(realpathSync(path), root))
}

/** The absolute entries of a search path that are outside the folder after links are resolved. */
export function trustedEntries(searchPath: string, root: string): string[] {
  return searchPath.split(":").flatMap((entry) => {
    if (!isAbsolute(entry) || isInside(entry, root)) return []
    const real = realOf(entry)
    return real === undefined || isInside(real, root) ? [] : [real]
  })
}

/** Compares whole names: `/home/ada/work-old` is not inside `/home/ada/work`. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`)
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
