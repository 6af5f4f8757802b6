import { lstatSync } from "node:fs"
import { dirname, isAbsolute, join, relative } from "node:path"
import type { Answer, CallContext, Tool } from "../../../core/pack.ts"
import type { Folder } from "./folder.ts"
import { normal, type TaintedFiles } from "./tainted-files.ts"
import { forEachFile, walkFiles } from "./walk-files.ts"

const WALK_MS = 2000
/** A file system's clock may be a few milliseconds behind ours. */
const CLOCK_MS = 50

/** Tools that return only names, so a file's content cannot taint their result. */
const NAMES_ONLY = new Set(["list_directory", "find_files", "git_log"])

/**
 * Wraps a tool of a folder to track taint through files: files that a conversation writes after it read untrusted text
 * are marked, and a call that reads a marked file becomes untrusted. A command can read a file without naming it (`cat
 * n*.md`), so every command in a folder with a marked file counts as having read it.
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
  /** Called before and after the call, because a path that does not exist yet has no real name. */
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
  // Without an editor a change is synchronous from its last check to its write, and its callers must be, too.
  return done instanceof Promise ? done.then(finish) : finish(done)
}

async function runCommandMarked(marked: Marked, input: object, context: CallContext): Promise<Answer> {
  const { tool, tainted } = marked
  const startedAt = Date.now()
  try {
    return await tool.run(input, context)
  } finally {
    // Checked after the command, because another conversation may have marked a file that it read in the meantime.
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

/** True if a call's path is a link: its answer then shows other names than the marked ones. */
function isLink(folder: Folder, input: object): boolean {
  const { path: given } = input as { readonly path: string }
  const inFolder = isAbsolute(given) ? relative(folder.root, given) : given
  return normal(inFolder) !== normal(pathIn(folder, input, "path") ?? "")
}

/**
 * Marks the files that a command changed, which it does not report. It also runs after a cancellation, because the
 * command's writes remain.
 */
async function markChanged({ folder, tainted }: Marked, startedAt: number): Promise<void> {
  const changed: string[] = []
  const { signal } = new AbortController()
  const since = startedAt - CLOCK_MS
  const statOf = (path: string) => lstatSync(join(folder.root, path), { throwIfNoEntry: false })
  const moved = new Map<string, boolean>([[".", false]])
  /** A renamed directory changes its own time, but not those of its entries. */
  const isMoved = (directory: string): boolean => {
    const known = moved.get(directory)
    if (known !== undefined) return known
    const stat = statOf(directory)
    const found = isMoved(dirname(directory)) || (stat !== undefined && stat.ctimeMs >= since && stat.mtimeMs < since)
    moved.set(directory, found)
    return found
  }
  const walk = walkFiles(folder, "", { signal, withinMs: WALK_MS, sizes: "no-sizes" })
  const walked = await forEachFile(walk, ({ path }) => {
    const stat = statOf(path)
    if (stat && (stat.ctimeMs >= since || isMoved(dirname(path)))) changed.push(path)
  })
  tainted.add(walked === "timed_out" ? [""] : changed)
}

const pathsIn = (folder: Folder, value: unknown): string[] =>
  ["path", "to"].flatMap((name) => {
    const path = pathIn(folder, value, name)
    return path === undefined ? [] : [path]
  })

/** The real path of an argument: a link or an absolute path is another name of the same file. */
function pathIn(folder: Folder, value: unknown, name: string): string | undefined {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  if (typeof found !== "string") return undefined
  try {
    return folder.realPath(found, "follow")
  } catch {
    return found
  }
}
