import { isInside } from "../folder/find-program.ts"
import type { Folder } from "../folder/folder.ts"
import { whyOfGit } from "./git-directory.ts"
import { protectedIn } from "./protected-in.ts"
import { whyProtected } from "./paths.ts"
import { shown } from "../folder/shown.ts"

const MAX_AT_ROOT = 20_000

/**
 * Why a place is always asked about: for its real name, for the name by which it was said, or because a protected name of
 * the folder is a link that leads there. `CLAUDE.md -> docs/rules.md` makes rules of what is called otherwise. What belongs
 * to git is told by what it is.
 */
export function whyProtectedAt(folder: Folder, real: string, said = real): string | undefined {
  return whyProtected(real) ?? whyProtected(fromRoot(folder, said)) ?? whyLedTo(folder, real) ?? whyOfGit(folder, real)
}

/** What a person is shown of a change, and whether they are always asked: where its place is protected, with the reason. */
export const insisting = (summary: string, protectedBy: string | undefined) => ({
  summary: protectedBy === undefined ? summary : `${summary} [always asked about: ${protectedBy}]`,
  insists: protectedBy !== undefined,
})

/** Why what lies below a directory is: it changes its place with it. What cannot be looked through may hold anything. */
export function whyProtectedBelow(folder: Folder, directory: string): string | undefined {
  const { found, isWhole } = protectedIn(folder, directory)
  const [first] = found
  if (first) return `it holds ${shown(first.path)}, ${whyProtected(first.path) ?? whyOfGit(folder, first.path)}`
  return isWhole ? undefined : "it cannot be looked through to its end"
}

/** What lies above the folder has names too, and they say nothing of what is in it. */
function fromRoot({ root }: Folder, said: string): string {
  return isInside(said, root) ? said.slice(root.length) : said
}

function whyLedTo(folder: Folder, real: string): string | undefined {
  for (const { name, type } of folder.list(".", MAX_AT_ROOT, "no-sizes").entries) {
    const why = type === "link" ? whyProtected(name) : undefined
    if (why === undefined) continue
    const target = targetOf(folder, name)
    if (target !== undefined && (isInside(real, target) || isInside(target, real))) return `${why}, by ${shown(name)}`
  }
  return undefined
}

/** Also of what is not there yet: made, it would be what the link leads to. */
function targetOf(folder: Folder, link: string): string | undefined {
  try {
    return folder.realPath(link, "follow")
  } catch {
    return undefined // it leaves the folder, where nothing is written
  }
}
