import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, sep } from "node:path"

/** What a process may touch of the file system beside the code that it is made of. A folder counts with all that is in it. */
export interface FileAccess {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
}

/** The flags with which a program of a checkout finds the packages of this repository: as sources. */
export const sourceFlags = (script: string): string[] => (script.endsWith(".ts") ? ["--conditions=pawl-source"] : [])

/**
 * The flags of Node's permission model with which a process can read its own code and the files of `access`, and cannot start
 * processes, threads or native code. What this does not restrict: docs/decisions/022-run-risky-work-in-processes.md.
 */
export function wallsAround(script: string, access: readonly FileAccess[]): string[] {
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
 * Also what is not there yet, whether it will be a file or a folder; and by its real name, with which a process may ask for it. Its own
 * last part is not followed: what is a link there leads nowhere.
 */
function withInside(path: string): string[] {
  const folder = dirname(path)
  const real = existsSync(folder) ? join(realpathSync(folder), basename(path)) : path
  return [...new Set([path, real])].flatMap((each) => [each, join(each, "*")])
}

const known = new Map<string, readonly string[]>()

/** Where the code of a script lies: its own sources, and the packages that it may load. */
function codeOf(script: string): readonly string[] {
  const before = known.get(script)
  if (before) return before
  const real = existsSync(script) ? realpathSync(script) : script
  const folders = foldersAbove(real)
  const root = real.endsWith(".ts")
    ? folders.findLast((folder) => existsSync(join(folder, "core", "package.json")))
    : folders.find((folder) => existsSync(join(folder, "package.json")))
  const packages = folders.map((folder) => join(folder, "node_modules")).filter((folder) => existsSync(folder))
  // Of a folder of packages that is a link, its packages have other names.
  const named = packages.flatMap((folder) => [folder, realpathSync(folder)])
  const sources = root ? [join(root, "package.json"), ...sourcesIn(root, real).flatMap(withInside)] : []
  const paths = [...new Set([script, real, ...sources, ...named.flatMap(withInside)])]
  known.set(script, paths)
  return paths
}

/** The source folders of a checkout that a program is made of. */
const CHECKOUT = ["core", "client", "packs"]

/** The source folders of a checkout, `dist` of a bundle: not the folder around them, which may hold somebody's data. */
function sourcesIn(root: string, script: string): string[] {
  const own = relative(root, script).split(sep)[0] ?? ""
  return (CHECKOUT.includes(own) ? CHECKOUT : [own]).map((folder) => join(root, folder))
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}
