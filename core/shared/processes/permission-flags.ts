import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, sep } from "node:path"

/** Paths that a process may access in addition to its own code. A folder includes everything in it. */
export interface FileAccess {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
}

/** The flags with which a program of a checkout resolves this repository's packages to their sources. */
export const sourceFlags = (script: string): string[] => (script.endsWith(".ts") ? ["--conditions=pawl-source"] : [])

/**
 * The flags of Node's permission model with which a process can read its own code and the files of `access`, and cannot start
 * processes, threads or native code. What this does not restrict: docs/decisions/022-run-risky-work-in-processes.md.
 */
export function permissionFlags(script: string, access: readonly FileAccess[]): string[] {
  const reads = access.flatMap((each) => each.reads ?? []).flatMap(withInside)
  const writes = access.flatMap((each) => each.writes ?? []).flatMap(withInside)
  return [
    "--permission",
    "--no-warnings",
    ...sourceFlags(script),
    ...[...codeOf(script), ...reads].map((path) => `--allow-fs-read=${path}`),
    ...writes.map((path) => `--allow-fs-write=${path}`),
  ]
}

/**
 * Includes paths that do not exist yet, as a file or as a folder, and the real path, which a process may use as well.
 * The last component is not resolved, so a link there leads nowhere.
 */
function withInside(path: string): string[] {
  const folder = dirname(path)
  const real = existsSync(folder) ? join(realpathSync(folder), basename(path)) : path
  return [...new Set([path, real])].flatMap((each) => [each, join(each, "*")])
}

const known = new Map<string, readonly string[]>()

/** The folders of a script's code: its sources, and the packages that it may load. */
function codeOf(script: string): readonly string[] {
  const before = known.get(script)
  if (before) return before
  const real = existsSync(script) ? realpathSync(script) : script
  const folders = foldersAbove(real)
  const root = real.endsWith(".ts")
    ? folders.findLast((folder) => existsSync(join(folder, "core", "package.json")))
    : folders.find((folder) => existsSync(join(folder, "package.json")))
  const packages = folders.map((folder) => join(folder, "node_modules")).filter((folder) => existsSync(folder))
  // Packages in a linked folder have other real paths.
  const named = packages.flatMap((folder) => [folder, realpathSync(folder)])
  const sources = root ? [join(root, "package.json"), ...sourcesIn(root, real).flatMap(withInside)] : []
  const paths = [...new Set([script, real, ...sources, ...named.flatMap(withInside)])]
  known.set(script, paths)
  return paths
}

/** The source folders of a checkout. */
const CHECKOUT = ["core", "client", "packs"]

/**
 * The source folders of a checkout, or `dist` of a bundle; not the folder around them, which may contain a user's data.
 */
function sourcesIn(root: string, script: string): string[] {
  const own = relative(root, script).split(sep)[0] ?? ""
  return (CHECKOUT.includes(own) ? CHECKOUT : [own]).map((folder) => join(root, folder))
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}
