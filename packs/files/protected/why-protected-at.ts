import { isInside } from "../folder/find-program.ts"
import type { Folder } from "../folder/folder.ts"
import { whyOfGit } from "./git-directory.ts"
import { protectedIn } from "./protected-in.ts"
import { whyProtected } from "./paths.ts"
import { displayName } from "../folder/display-name.ts"

const MAX_AT_ROOT = 20_000

/**
 * Returns why a write to a path always needs a person: because of its real name, of the requested name, or because a
 * protected name of the folder is a link to it. `CLAUDE.md -> docs/rules.md` makes another file the rules. git's files
 * are recognized by their contents.
 */
export function whyProtectedAt(folder: Folder, real: string, requested = real): string | undefined {
  return (
    whyProtected(real) ?? whyProtected(fromRoot(folder, requested)) ?? whyLedTo(folder, real) ?? whyOfGit(folder, real)
  )
}

/** The summary of a change and, if its path is protected, the reason why a person must decide. */
export const protectedPreview = (summary: string, protectedBy: string | undefined) => ({
  summary: protectedBy === undefined ? summary : `${summary} [always asked about: ${protectedBy}]`,
  insists: protectedBy !== undefined,
})

/**
 * Returns why a directory is protected: it contains protected files that move with it, or it cannot be searched
 * completely.
 */
export function whyProtectedBelow(folder: Folder, directory: string): string | undefined {
  const { found, isComplete } = protectedIn(folder, directory)
  const [first] = found
  if (first)
    return `it contains ${displayName(first.path)}, ${whyProtected(first.path) ?? whyOfGit(folder, first.path)}`
  return isComplete ? undefined : "it is too large to scan completely"
}

/** Drops the names above the folder, which do not matter for files inside it. */
function fromRoot({ root }: Folder, path: string): string {
  return isInside(path, root) ? path.slice(root.length) : path
}

function whyLedTo(folder: Folder, real: string): string | undefined {
  for (const { name, type } of folder.list(".", MAX_AT_ROOT, "no-sizes").entries) {
    const why = type === "link" ? whyProtected(name) : undefined
    if (why === undefined) continue
    const target = targetOf(folder, name)
    if (target !== undefined && (isInside(real, target) || isInside(target, real)))
      return `${why}, by ${displayName(name)}`
  }
  return undefined
}

/** The target of a link, also if it does not exist yet: creating it would change what the link protects. */
function targetOf(folder: Folder, link: string): string | undefined {
  try {
    return folder.realPath(link, "follow")
  } catch {
    return undefined // it leads out of the folder, where writes are impossible
  }
}
