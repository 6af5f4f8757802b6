import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { findProgram, trustedEntries } from "./folder/find-program.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { type ProcessResult, runProcess } from "./sandbox/run-process.ts"

const SECONDS = 15
const MAX_REFS = 5000
const MAX_INDEX = 64 * 1024 * 1024
const MAX_PACKED = 16 * 1024 * 1024

export interface Git {
  readonly format: "sha1" | "sha256"
  /** Returns the output. Throws a refusal with git's message. */
  run(words: readonly string[], more?: { readonly input?: string; readonly most?: number }): Promise<string>
}

export interface GitPorts {
  readonly folder: Folder
  /** The search path for programs. */
  readonly searchPath: string
}

/**
 * Runs git on the folder's repository without anything that git would execute or obey. The configuration of an
 * untrusted repository can name programs (pagers, filters, diff drivers, monitors, helpers), other work trees and other
 * files. So git gets a directory of ours with our configuration, copies of the branches and the index, and only the
 * objects of the repository. It never reads the work tree: the folder does.
 */
export async function withGit<T>(
  { folder, searchPath }: GitPorts,
  signal: AbortSignal,
  use: (git: Git) => Promise<T>,
): Promise<T> {
  requireRepository(folder)
  const program = findProgram("git", searchPath, folder.root)
  if (!program)
    throw fileRefusal("git is not installed on this machine; the project's own programs are not run for this")
  const PATH = trustedEntries(searchPath, folder.root).join(":")
  const shadow = mkdtempSync(join(tmpdir(), "pawl-git-"))
  const objects = folder.openDirectory(".git/objects")
  try {
    const format = copyInto(shadow, folder)
    const at = process.platform === "linux" ? "/proc/self/fd/3" : join(folder.root, ".git", "objects")
    const environment = { ...QUIET, PATH, HOME: shadow, GIT_DIR: shadow, GIT_OBJECT_DIRECTORY: at }
    const run: Git["run"] = async (words, more = {}) => {
      const given = ["--no-pager", "--literal-pathspecs", "--no-replace-objects", ...words]
      const common = { cwd: shadow, environment, seconds: SECONDS, signal, descriptors: [objects.fd], ...more }
      return outputOf(await runProcess({ program, arguments: given, ...common }))
    }
    return await use({ format, run })
  } finally {
    objects.close()
    rmSync(shadow, { recursive: true, force: true })
  }
}

const QUIET = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_PAGER: "cat",
  LC_ALL: "C.UTF-8",
}

function requireRepository(folder: Folder): void {
  const git = folder.find(".git")
  if (git?.type !== "directory" || git.path !== ".git")
    throw fileRefusal("The work folder is no git repository of its own: it has no directory .git")
  if (folder.find(".git/objects/info/alternates"))
    throw fileRefusal(
      "This repository keeps objects outside of the work folder, where nothing is read. run_command can run git itself",
    )
  if (folder.find(".git/reftable"))
    throw fileRefusal(
      "This repository keeps its branches in a reftable, which is not read here. run_command can run git itself",
    )
}

function copyInto(shadow: string, folder: Folder): Git["format"] {
  const config = folder.find(".git/config") ? folder.read(".git/config", 1_000_000).bytes.toString() : ""
  // Spaces within the line only: if the pattern included line ends, a file of blank lines would take quadratic time.
  const format = /^[ \t]*objectformat[ \t]*=[ \t]*sha256[ \t]*\r?$/im.test(config) ? "sha256" : "sha1"
  const ours = `[core]\nrepositoryformatversion = 1\nbare = true\n[extensions]\nobjectformat = ${format}\n`
  writeFileSync(join(shadow, "config"), ours)
  mkdirSync(join(shadow, "refs"))
  mkdirSync(join(shadow, "objects"))
  for (const [name, most] of [
    ["HEAD", 10_000],
    ["packed-refs", MAX_PACKED],
    ["index", MAX_INDEX],
    ["shallow", MAX_PACKED],
  ] as const)
    if (folder.find(`.git/${name}`)) writeFileSync(join(shadow, name), folder.read(`.git/${name}`, most).bytes)
  let left = MAX_REFS
  copyRefs("refs")
  return format

  function copyRefs(at: string): void {
    if (folder.find(`.git/${at}`)?.type !== "directory") return
    for (const { name, type } of folder.list(`.git/${at}`, MAX_REFS).entries) {
      const path = `${at}/${name}`
      // Directories count too: a repository may have millions of them.
      if (left-- <= 0) return
      if (type === "directory") copyRefs(path)
      if (type !== "file") continue
      mkdirSync(dirname(join(shadow, path)), { recursive: true })
      writeFileSync(join(shadow, path), folder.read(`.git/${path}`, 10_000).bytes)
    }
  }
}

function outputOf({ code, how, output, errors }: ProcessResult): string {
  if (how !== "ended") throw fileRefusal(`git did not end within ${SECONDS} s`)
  if (code !== 0) throw fileRefusal(`git says: ${errors.trim().slice(0, 500) || `exit code ${code}`}`)
  return output
}
