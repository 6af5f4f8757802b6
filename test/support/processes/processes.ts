import { spawnSync } from "node:child_process"
import { mkdtempSync, writeFileSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { inject } from "vitest"
import type { Log } from "../../../core/shared/log.ts"
import type { FileAccess } from "../../../core/shared/processes/permission-flags.ts"

/** A program for a child process or a thread, written for one test. */
export function programOf(source: string): URL {
  const file = join(mkdtempSync(join(tmpdir(), inject("testRun"), "program-")), "test-program.mjs")
  writeFileSync(file, source)
  return pathToFileURL(file)
}

/** A program for one test that loads our modules and may write files next to itself. */
export function programAround(source: string): { script: URL; files: FileAccess } {
  const script = programOf(source)
  const own = dirname(fileURLToPath(script))
  const root = join(import.meta.dirname, "..", "..", "..")
  return {
    script,
    files: { reads: [own, ...["core", "packs", "node_modules"].map((name) => join(root, name))], writes: [own] },
  }
}

/** Stores its lines. */
export class RecordingLog implements Log {
  readonly lines: { readonly event: string; readonly fields: Record<string, unknown> }[] = []
  info = (event: string, fields: Record<string, unknown>) => void this.lines.push({ event, fields })
  warn = this.info
  error = this.info
}

/** The system's letter for the state of a process: `T` is stopped, `Z` has ended; empty if there is none. */
export function stateOf(pid: number): string {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] ?? ""
  } catch {
    const { stdout } = spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" })
    return stdout?.trim().charAt(0) ?? ""
  }
}

/** Whether the process is gone. A zombie that its parent has not waited for counts as gone. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return true
  }
  return /[ZX]/.test(stateOf(pid))
}

/** Some machines lack a program, or do not let every user run it: a test that needs one reports when it is skipped. */
export const canRun = (program: string, ...words: string[]): boolean => spawnSync(program, words).status === 0
export const hasGit = canRun("git", "--version")
export const NO_GIT = "there is no git on this machine"
