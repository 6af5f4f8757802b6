import { posix } from "node:path"
import { isInside } from "../folder/find-program.ts"
import type { Folder } from "../folder/folder.ts"

const MARKS = ["HEAD", "objects", "refs"]
const MAX_CONFIG_BYTES = 100_000
const WHY = "the repository's own data and hooks"

/** True if a directory with these names is a git directory, whatever its name. git recognizes it in the same way. */
export function isGitDirectory(names: readonly string[]): boolean {
  return MARKS.every((mark) => names.includes(mark))
}

/**
 * Returns why a path belongs to git: it is inside a git directory with another name, or in the configured folder of
 * hooks.
 */
export function whyOfGit(folder: Folder, real: string): string | undefined {
  const hooks = hooksOf(folder)
  if (hooks !== undefined && (isInside(real, hooks) || isInside(hooks, real))) return `${WHY}, by core.hooksPath`
  const parts = real.split("/").filter(Boolean)
  for (let depth = 0; depth <= parts.length; depth++) {
    const at = parts.slice(0, depth).join("/")
    if (isGitDirectory(MARKS.filter((mark) => isThere(folder, at === "" ? mark : `${at}/${mark}`)))) return WHY
  }
  return undefined
}

/** The folder of hooks in this repository's configuration, if it is in the work folder and not in `.git`. */
export function hooksOf(folder: Folder): string | undefined {
  const [, configured] =
    /^[ \t]*hookspath[ \t]*=[ \t]*"?([^"\n#;]+)/im.exec(textAt(folder, `${gitAt(folder)}/config`)) ?? []
  if (configured === undefined) return undefined
  try {
    return folder.realPath(configured.trim(), "follow") || undefined
  } catch {
    // The path does not exist yet, or it is outside, where writes are impossible.
    return posix.normalize(configured.trim()).replace(/\/$/, "")
  }
}

/** True if hooks or configuration have hard links: a write to the other name would change them. */
export function hasOtherNames(folder: Folder, git: string): boolean {
  try {
    const names =
      folder.kindOf(`${git}/hooks`) === "directory" ? folder.list(`${git}/hooks`, 1000, "no-sizes").entries : []
    const files = [`${git}/config`, ...names.map(({ name }) => `${git}/hooks/${name}`)]
    return files.some((path) => folder.find(path)?.hasOutsideLinks === true)
  } catch {
    return false // a link out of the folder, or not a directory
  }
}

/** The path of the git directory: in a worktree, or with `--separate-git-dir`, `.git` is a file that contains it. */
function gitAt(folder: Folder): string {
  if (folder.kindOf(".git") !== "file") return ".git"
  const [, target = ".git"] = /^gitdir: (.+)$/m.exec(textAt(folder, ".git")) ?? []
  return target.trim()
}

function textAt(folder: Folder, path: string): string {
  try {
    return folder.read(path, MAX_CONFIG_BYTES).bytes.toString("utf8")
  } catch {
    return "" // it does not exist, or is outside
  }
}

function isThere(folder: Folder, path: string): boolean {
  try {
    return folder.kindOf(path) !== undefined
  } catch {
    return false
  }
}
