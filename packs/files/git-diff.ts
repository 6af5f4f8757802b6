import { createHash } from "node:crypto"
import { setImmediate as turn } from "node:timers/promises"
import { z } from "zod"
import type { Tool } from "../../core/pack.ts"
import { readTool } from "./file-tool.ts"
import type { Folder } from "./folder/folder.ts"
import { type Git, type GitPorts, withGit } from "./git.ts"
import { isBinary } from "./read-file.ts"
import { displayName, withoutControls } from "./folder/display-name.ts"
import { forEachFile, walkFiles } from "./folder/walk-files.ts"

const MAX_CHARACTERS = 40_000
const MAX_OUTPUT = 64 * 1024 * 1024
/** The time limit of a diff: two very different files take the square of their lines, and block the process. */
const PATCH_MS = 300
const MAX_FILE = 1024 * 1024
const MAX_SHOWN = 100
const WITHIN_MS = 10_000
const YIELD_MS = 10

/** Shows changes since the index. Compares files itself, because git would follow links and run filters. */
export function gitDiff(ports: GitPorts): Tool {
  return readTool(ports.folder, {
    name: "git_diff",
    description:
      "What has changed in the work folder and is not staged yet, as a unified diff, and which files git does not know. With `staged`: what is staged for the next commit.",
    input: z.strictObject({
      path: z.string().min(1).max(4096).optional().describe("Only this file or directory"),
      staged: z.boolean().optional(),
    }),
    examples: ["show the changes", "what has changed", "what is staged"],
    timeoutSeconds: 45,
    read({ path, staged = false }, { signal }) {
      const { folder } = ports
      const which = path === undefined ? [] : [folder.realPath(path, "keep")].filter((real) => real !== "")
      return withGit(ports, signal, async (git) => {
        if (staged) {
          const diff = await git.run([
            "diff",
            "--cached",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--",
            ...which,
          ])
          return bounded(withoutControls(diff), "Nothing is staged.")
        }
        const tracked = await trackedFiles(git, which)
        const { changed, late } = await changedFiles(folder, { git, tracked, signal })
        const parts = await patches(folder, git, changed.slice(0, MAX_SHOWN))
        const others = await untracked(folder, tracked, { path: which[0] ?? ".", signal })
        if (changed.length > MAX_SHOWN)
          parts.push(`[${changed.length - MAX_SHOWN} more files have changed: ask for a path.]`)
        if (late) parts.push(`[Stopped after ${WITHIN_MS / 1000} s: ask for a path to see the rest.]`)
        if (others.length > 0) parts.push(`Not known to git:\n${others.join("\n")}`)
        return bounded(parts.join("\n"), "Nothing has changed.")
      })
    },
  })
}

interface Tracked {
  readonly path: string
  readonly hash: string
}

async function trackedFiles(git: Git, which: readonly string[]): Promise<Tracked[]> {
  const listed = await git.run(["ls-files", "-s", "-z", "--", ...which], { most: MAX_OUTPUT })
  return listed.split("\0").flatMap((line) => {
    const [, hash, path] = /^100\d{3} ([0-9a-f]+) 0\t(.+)$/s.exec(line) ?? []
    return hash && path ? [{ path, hash }] : []
  })
}

/** Yields to other work while it reads, because a large repository takes seconds and the caller may cancel. */
async function changedFiles(
  folder: Folder,
  { git, tracked, signal }: { git: Git; tracked: readonly Tracked[]; signal: AbortSignal },
): Promise<{ changed: Tracked[]; late: boolean }> {
  const end = performance.now() + WITHIN_MS
  let yielded = performance.now()
  const changed: Tracked[] = []
  for (const file of tracked) {
    const now = performance.now()
    if (now > end) return { changed, late: true }
    if (now - yielded > YIELD_MS) {
      await turn()
      signal.throwIfAborted()
      yielded = performance.now()
    }
    const bytes = bytesAt(folder, file.path)
    if (!bytes || blobHash(bytes, git.format) !== file.hash) changed.push(file)
  }
  return { changed, late: false }
}

const blobHash = (bytes: Buffer, format: Git["format"]) =>
  createHash(format).update(`blob ${bytes.length}\0`).update(bytes).digest("hex")

function bytesAt(folder: Folder, path: string): Buffer | undefined {
  try {
    return folder.read(path, 32 * MAX_FILE).bytes
  } catch {
    return undefined // deleted, or no longer a file
  }
}

async function patches(folder: Folder, git: Git, changed: readonly Tracked[]): Promise<string[]> {
  if (changed.length === 0) return []
  const { createTwoFilesPatch } = await import("diff")
  const parts: string[] = []
  for (const { path, hash } of changed) {
    const now = bytesAt(folder, path)
    const size = Number(await git.run(["cat-file", "-s", hash]))
    const name = displayName(path)
    if (size > MAX_FILE || (now && (now.length > MAX_FILE || isBinary(now)))) {
      parts.push(`${name}: ${now ? "changed" : "deleted"} (${size} bytes before, ${now?.length ?? 0} now; not shown)`)
      continue
    }
    const before = await git.run(["cat-file", "blob", hash], { most: MAX_FILE })
    const patch = createTwoFilesPatch(
      `a/${name}`,
      now ? `b/${name}` : "/dev/null",
      before,
      now?.toString("utf8") ?? "",
      "",
      "",
      { timeout: PATCH_MS },
    )
    if (patch === undefined) parts.push(`${name}: changed (too different to show line by line)`)
    else parts.push(withoutControls(patch.replace(/^=+\n/, "")))
  }
  return parts
}

async function untracked(
  folder: Folder,
  tracked: readonly Tracked[],
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<string[]> {
  if (folder.find(path)?.type !== "directory") return []
  const known = new Set(tracked.map((file) => file.path))
  const found: string[] = []
  const ended = await forEachFile(walkFiles(folder, path, { signal, withinMs: WITHIN_MS }), (file) => {
    if (known.has(file.path)) return
    if (found.length === MAX_SHOWN) return "enough"
    found.push(displayName(file.path))
  })
  return ended === "enough" ? [...found, "[and more]"] : found
}

function bounded(text: string, ifNone: string): string {
  if (text.trim() === "") return ifNone
  if (text.length <= MAX_CHARACTERS) return text
  return `${text.slice(0, MAX_CHARACTERS)}\n[Cut after ${MAX_CHARACTERS} of ${text.length} characters: git_diff {"path": "…"} shows one file.]`
}
