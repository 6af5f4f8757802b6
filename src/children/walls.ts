import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, sep } from "node:path"

/** What a process may touch of the file system beside the code that it is made of. A folder counts with all that is in it. */
export interface FileAccess {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
}

/**
 * Node's permission model: a process reads its own code and these files, writes to those, and starts neither processes nor
 * threads nor native code. What it does not keep in, docs/decisions/023 says.
 */
export function wallsAround(script: string, access: readonly FileAccess[]): string[] {
  const reads = access.flatMap((each) => each.reads ?? []).flatMap(withInside)
  const writes = access.flatMap((each) => each.writes ?? []).flatMap(withInside)
  return [
    "--permission",
    "--no-warnings",
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
  const root = folders.find((folder) => existsSync(join(folder, "package.json")))
  const packages = folders.map((folder) => join(folder, "node_modules")).filter((folder) => existsSync(folder))
  // Of a folder of packages that is a link, its packages have other names.
  const named = packages.flatMap((folder) => [folder, realpathSync(folder)])
  const sources = root ? [join(root, "package.json"), ...withInside(sourcesIn(root, real))] : []
  const paths = [...new Set([script, real, ...sources, ...named.flatMap(withInside)])]
  known.set(script, paths)
  return paths
}

/** `src` of a checkout, `dist` of a bundle: not the folder around it, where somebody's data may lie. */
const sourcesIn = (root: string, script: string) => join(root, relative(root, script).split(sep)[0] ?? "")

function foldersAbove(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}
