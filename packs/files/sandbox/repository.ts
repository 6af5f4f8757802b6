import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { isInside } from "../folder/find-program.ts"

/** The git repository of a work folder whose data lies outside of it: a subfolder, a linked worktree or a submodule. */
export interface Repository {
  /** The top of the work tree: the work folder, or a folder above it. */
  readonly top: string
  /** git's folder of this work tree. */
  readonly gitDirectory: string
  /** The folder that all work trees of the repository share: objects, branches, hooks and configuration. */
  readonly common: string
}

const MARKS = ["HEAD", "objects", "refs"]
/** Paths that a commit writes to, in the data that all work trees share. */
const COMMIT_PATHS = ["objects", "refs", "logs", "reftable"]
/** Files that control git: hooks, configuration, filters and their locations. */
const CONTROL_FILES = ["config", "config.worktree", "commondir", "gitdir", "hooks", "info", "modules", "worktrees"]
/** If a command created these, they would redirect git to other hooks or another configuration. */
const REDIRECTING_FILES = ["config.worktree", "commondir", "gitdir"]

/**
 * The repository outside of a work folder; undefined if all of it is in the folder, or there is none. The folder's
 * contents are not trusted: the path in its `.git` file is valid only if git's own data names this work tree too.
 */
export function repositoryOf(root: string, home: string): Repository | undefined {
  for (let folder = root; !isInside(home, folder) && dirname(folder) !== folder; folder = dirname(folder)) {
    const git = join(folder, ".git")
    const stat = lstatSync(git, { throwIfNoEntry: false })
    if (stat?.isDirectory() && folder === root) return undefined
    if (stat?.isDirectory())
      return isOurs(git) && !isWide(folder) ? { top: folder, gitDirectory: git, common: git } : undefined
    if (stat) return stat.isFile() && stat.size < 4096 ? named(root, folder) : undefined
  }
  return undefined
}

function named(root: string, top: string): Repository | undefined {
  try {
    const [, target = ""] = /^gitdir: (.+)$/m.exec(readFileSync(join(top, ".git"), "utf8")) ?? []
    const gitDirectory = realpathSync(resolve(top, target))
    const isLinked = basename(dirname(gitDirectory)) === "worktrees"
    const common = isLinked ? dirname(dirname(gitDirectory)) : gitDirectory
    if (isInside(common, root) || !isOurs(common) || (top !== root && isWide(top))) return undefined
    const [, tree = ""] = /\n[ \t]{0,8}worktree[ \t]{0,8}=[ \t]{0,8}(.+)/.exec(textOf(join(common, "config"))) ?? []
    const back = isLinked ? dirname(textOf(join(gitDirectory, "gitdir")).trim()) : resolve(common, tree.trim())
    if (realpathSync(back) !== realpathSync(top)) return undefined
    if (isLinked && realpathSync(resolve(gitDirectory, textOf(join(gitDirectory, "commondir")).trim())) !== common)
      return undefined
    return { top, gitDirectory, common }
  } catch {
    return undefined // a part of it does not exist
  }
}

/** True for a git directory of this user: git itself refuses others. */
const isOurs = (path: string) =>
  MARKS.every((mark) => existsSync(join(path, mark))) && statSync(path).uid === process.getuid?.()
/** True directly below `/`, as in `/tmp`, which all users share. */
const isWide = (folder: string) => folder.split("/").length <= 2
const textOf = (path: string) => readFileSync(path, "utf8")

export interface RepositoryMount {
  readonly at: string
  readonly words: readonly string[]
}

/** The mounts of the repository, read-only. `writes`: commits are possible; files that control git stay read-only. */
export function repositoryMounts({ top, gitDirectory, common }: Repository, root: string, writes: boolean) {
  const shown = [...(top === root ? [] : [top]), common].map(readOnly)
  if (!writes || !mayWrite(common, gitDirectory)) return shown
  if (gitDirectory === common) mkdirSync(join(common, "hooks"), { recursive: true }) // so that a command cannot create it
  const written = gitDirectory === common ? [common] : [...COMMIT_PATHS.map((name) => join(common, name)), gitDirectory]
  const obeyed = CONTROL_FILES.map((name) => join(gitDirectory, name))
  return [
    ...shown.filter(({ at }) => !written.includes(at)),
    ...written.filter((path) => existsSync(path)).map((path) => ({ at: path, words: ["--bind", path, path] })),
    ...obeyed.filter((path) => existsSync(path)).map(readOnly),
  ]
}

/** False if a file is a link, whose target would not be protected, or if a missing configuration could be created. */
function mayWrite(common: string, gitDirectory: string): boolean {
  const names = [...COMMIT_PATHS, ...CONTROL_FILES].flatMap((name) => [join(common, name), join(gitDirectory, name)])
  const isLink = names.some((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
  const isExtended = /worktreeconfig/i.test(textOf(join(common, "config")))
  return !isLink && (!isExtended || existsSync(join(gitDirectory, "config.worktree")))
}

/** Called before a command that writes. Returns a function that removes new files that would redirect git. */
export function removeNewRedirects({ gitDirectory }: Repository): () => void {
  const missing = REDIRECTING_FILES.map((name) => join(gitDirectory, name)).filter((path) => !existsSync(path))
  return () => {
    for (const path of missing) rmSync(path, { recursive: true, force: true })
  }
}

const readOnly = (path: string): RepositoryMount => ({ at: path, words: ["--ro-bind", path, path] })
