import { lstatSync } from "node:fs"
import { dirname, isAbsolute, join, relative } from "node:path"
import type { Answer, CallContext, Tool } from "../../../core/pack.ts"
import type { Folder } from "./folder.ts"
import { normal, type TaintedFiles } from "./tainted-files.ts"
import { goThrough, walkFiles } from "./walk-files.ts"

const WALK_MS = 2000
/** A file system's clock may be a few milliseconds behind ours. */
const CLOCK_MS = 50

/** These answer with names alone, which say nothing of what a file contains. */
const NAMES_ONLY = new Set(["list_directory", "find_files", "git_log"])

/**
 * A tool of a folder that carries the mark of what its conversation has read: files that it writes after text of others are
 * marked, and a call that reads one of them has read text of others again. A command can read a file without naming it
 * (`cat n*.md`), so in a folder with a marked file each command counts as having read it.
 */
export function withFileTaint<Each extends Tool>(tool: Each, folder: Folder): Each {
  const { tainted } = folder.trust
  if (!tainted) return tool
  return { ...tool, run: (input, context) => runMarked({ tool, folder, tainted }, input as object, context) }
}

interface Marked {
  readonly tool: Tool
  readonly folder: Folder
  readonly tainted: TaintedFiles
}

function runMarked(marked: Marked, input: object, context: CallContext): Promise<Answer> | Answer {
  const { tool, folder, tainted } = marked
  if (tool.name === "run_command") return runCommandMarked(marked, input, context)
  const from = pathIn(folder, input, "from")
  const movesMarked = from !== undefined && tainted.has(from)
  const marksWhatItWrites = movesMarked || (tool.effect === "write" && context.taint === "untrusted")
  /** Before the call and after it: a path that does not exist yet has no real name. */
  const mark = (paths: readonly string[]) => {
    if (marksWhatItWrites) tainted.add(paths)
    if (movesMarked) tainted.addMoved(from, paths)
  }
  mark(pathsIn(folder, input))
  const finish = (answer: Answer): Answer => {
    mark(pathsIn(folder, answer.data))
    if (!NAMES_ONLY.has(tool.name) && readsMarked(marked, input, answer)) context.noteTaint?.("untrusted")
    return answer
  }
  const done = tool.run(input, context)
  // Without an editor a change waits for nothing between its last look and its write, and neither do its callers.
  return done instanceof Promise ? done.then(finish) : finish(done)
}

async function runCommandMarked(marked: Marked, input: object, context: CallContext): Promise<Answer> {
  const { tool, tainted } = marked
  const startedAt = Date.now()
  try {
    return await tool.run(input, context)
  } finally {
    // Asked afterwards, because another conversation may have marked a file that the command has read meanwhile.
    if (context.taint === "untrusted" || !tainted.isEmpty) await markChanged(marked, startedAt)
    if (!tainted.isEmpty) context.noteTaint?.("untrusted")
  }
}

function readsMarked({ tool, folder, tainted }: Marked, input: object, { text }: Answer): boolean {
  const path = pathIn(folder, input, "path")
  if (tool.name === "read_file" && path !== undefined) return tainted.has(path)
  if (tool.effect !== "read") return false
  return (
    tainted.isNamedIn(text, JSON.stringify(input)) || (path !== undefined && isLink(folder, input) && tainted.has(path))
  )
}

/** Whether a call names its path through a link: then its answer shows other names than those that are marked. */
function isLink(folder: Folder, input: object): boolean {
  const { path: given } = input as { readonly path: string }
  const inFolder = isAbsolute(given) ? relative(folder.root, given) : given
  return normal(inFolder) !== normal(pathIn(folder, input, "path") ?? "")
}

/**
 * Marks the files that a command changed, which it does not report. Also if it was cancelled, because its writes
 * remain.
 */
async function markChanged({ folder, tainted }: Marked, startedAt: number): Promise<void> {
  const changed: string[] = []
  const { signal } = new AbortController()
  const since = startedAt - CLOCK_MS
  const statOf = (path: string) => lstatSync(join(folder.root, path), { throwIfNoEntry: false })
  const moved = new Map<string, boolean>([[".", false]])
  /** A directory that gets another name changes by itself, its entries and the files below it do not. */
  const isMoved = (directory: string): boolean => {
    const known = moved.get(directory)
    if (known !== undefined) return known
    const stat = statOf(directory)
    const found = isMoved(dirname(directory)) || (stat !== undefined && stat.ctimeMs >= since && stat.mtimeMs < since)
    moved.set(directory, found)
    return found
  }
  const walk = walkFiles(folder, "", { signal, withinMs: WALK_MS, sizes: "no-sizes" })
  const walked = await goThrough(walk, ({ path }) => {
    const stat = statOf(path)
    if (stat && (stat.ctimeMs >= since || isMoved(dirname(path)))) changed.push(path)
  })
  tainted.add(walked === "late" ? [""] : changed)
}

const pathsIn = (folder: Folder, value: unknown): string[] =>
  ["path", "to"].flatMap((name) => {
    const path = pathIn(folder, value, name)
    return path === undefined ? [] : [path]
  })

/** By its real name: a link, or the path from the root on, is another name of the same file. */
function pathIn(folder: Folder, value: unknown, name: string): string | undefined {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  if (typeof found !== "string") return undefined
  try {
    return folder.realPath(found, "follow")
  } catch {
    return found
  }
}
