import { randomBytes } from "node:crypto"
import type { Folder } from "../folder/folder.ts"
import { isInside } from "../folder/find-program.ts"
import { hasOtherNames, hooksOf, isGitDirectory } from "./git-directory.ts"
import { BUILDS, whyProtected } from "./paths.ts"
import { displayName } from "../folder/display-name.ts"

const MAX_LOOKED_AT = 50_000
/** The limit for the search after a command, which may have created many files. */
const MAX_AFTERWARDS = 200_000
/** Contains many projects of others, which are not protected. */
const PASSED_OVER = new Set(["node_modules"])
/** Folders of build output: full of manifests that do not run, and replaced by the next build. */
const OUTPUT = new Set([
  ...["build", "dist", "out", "target", "_build", "coverage", "vendor", ".next", ".nuxt", ".svelte-kit", ".gradle"],
  ...[".venv", "venv", ".tox", ".nox", "__pycache__", "site-packages", ".cache", ".eggs"],
])
/** Each takes a few of the 9,000 arguments that bubblewrap accepts. */
export const MAX_PROTECTED = 2000

export interface Guarded {
  readonly path: string
  /** A name is not enough: another file may get it, or a directory above it may be renamed and created again. */
  readonly identity: string | undefined
}

export interface Guard {
  readonly found: readonly Guarded[]
  /** False if some folder could not be read, or there are too many names. */
  readonly isComplete: boolean
}

/** The outermost protected paths below a directory. If there are too many, the ones nearest to it. */
export function protectedIn(folder: Folder, at = "", most = MAX_LOOKED_AT): Guard {
  const found: Guarded[] = []
  const waiting = [{ directory: at, isOutput: false }]
  const excluded = new Set(folder.excluded)
  let left = most
  let isComplete = true
  for (const { directory, isOutput } of waiting) {
    const { entries, isAll } = listed(folder, directory, left)
    isComplete &&= isAll
    left -= entries.length
    const isGit = isGitDirectory(entries.map(({ name }) => name))
    if (isGit && directory !== at) {
      find(directory, isGit)
      continue
    }
    for (const { name, type } of entries) {
      const path = directory === "" ? name : `${directory}/${name}`
      const why = whyProtected(name)
      if (isGit || (why !== undefined && !(isOutput && why === BUILDS))) find(path, name === ".git")
      else if (type === "directory" && !PASSED_OVER.has(name) && !excluded.has(path))
        waiting.push({ directory: path, isOutput: isOutput || OUTPUT.has(name) })
    }
  }
  const hooks = at === "" ? hooksOf(folder) : undefined
  if (hooks !== undefined && !found.some(({ path }) => isInside(hooks, path))) find(hooks)
  return { found, isComplete: isComplete && found.length <= MAX_PROTECTED }

  function find(path: string, isGit = false): void {
    const identity = identityOf(folder, path)

    found.push({ path, identity })
    // It is protected by name, but could be written under its other name.
    if (isGit && hasOtherNames(folder, path)) isComplete = false
  }
}

/**
 * Renames protected files that a command created or replaced without an approval, so that they do not run, and reports
 * them. The sandbox protects existing files, but a command can rename a directory above them and create another, or
 * replace a link.
 */
export function setAside(folder: Folder, before: Guard): string[] {
  const known = new Map(before.found.map(({ path, identity }) => [path, identity]))
  const after = protectedIn(folder, "", MAX_AFTERWARDS)
  const seen = new Set(after.found.map(({ path }) => path))
  // Checked one by one if the search had too many names to reach them.
  const unseen = before.found.filter(({ path }) => !seen.has(path))
  const now = [...after.found, ...unseen.map(({ path }) => ({ path, identity: identityOf(folder, path) }))]
  const isAsBefore = ({ path, identity }: Guarded) => known.has(path) && known.get(path) === identity
  const strange = now.filter((one) => one.identity !== undefined && !isAsBefore(one))
  const gone = new Map(
    now.filter((one) => known.has(one.path) && !isAsBefore(one)).map(({ path }) => [known.get(path), path]),
  )
  // First move back the files that were renamed away.
  const [moved, made] = [
    strange.filter(({ identity }) => gone.has(identity)),
    strange.filter(({ identity }) => !gone.has(identity)),
  ]
  const remarks = made.map(({ path }) => putAside(folder, path, known.has(path) ? "replaced" : "made"))
  for (const { path, identity } of moved) {
    const home = gone.get(identity) ?? ""
    if (moves(folder, path, home) === undefined) {
      gone.delete(identity)
      remarks.push(
        `It moved ${displayName(home)}, which is always asked about, to ${displayName(path)}: it was put back.`,
      )
    } else remarks.push(putAside(folder, path, "moved there"))
  }
  for (const path of gone.values())
    remarks.push(`${displayName(path)}, which is always asked about, is gone as it was before.`)
  if (!after.isComplete) remarks.push("The folder is too large to scan completely: it may contain new protected files.")
  return remarks
}

function putAside(folder: Folder, path: string, how: string): string {
  const to = `${path.replace(/(?<![^/])[^/]*$/, "")}put-aside-${randomBytes(4).toString("hex")}`
  const problem = moves(folder, path, to)
  const what = `It ${how === "moved there" ? "moved what is now" : how} ${displayName(path)}, which is always asked about`
  if (problem === undefined) return `${what}: it was put aside as ${displayName(to)}.`
  return `${what}, and it STILL STANDS there, for it could not be put aside: ${problem}`
}

/** Renames an entry. Returns the reason if that fails. */
function moves(folder: Folder, from: string, to: string): string | undefined {
  try {
    folder.move(from, to)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function identityOf(folder: Folder, path: string): string | undefined {
  try {
    return folder.identityOf(path)
  } catch {
    return undefined // it was deleted, or a folder on its path was
  }
}

function listed(folder: Folder, path: string, most: number) {
  try {
    if (most <= 0) return { entries: [], isAll: false }
    const { entries, more, isTruncated } = folder.list(path === "" ? "." : path, most, "no-sizes")
    return { entries, isAll: more === 0 && !isTruncated }
  } catch {
    return { entries: [], isAll: false } // not readable, or deleted
  }
}
