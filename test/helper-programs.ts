import { mkdtempSync, writeFileSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { inject } from "vitest"
import type { Log } from "../src/agent/ports.ts"

/** A program for a child process or a thread, written for one test. */
export function programOf(source: string): URL {
  const file = join(mkdtempSync(join(tmpdir(), inject("testRun"), "program-")), "test-program.mjs")
  writeFileSync(file, source)
  return pathToFileURL(file)
}

/** Keeps what it is told. */
export class KeptLog implements Log {
  readonly lines: { readonly event: string; readonly fields: Record<string, unknown> }[] = []
  info = (event: string, fields: Record<string, unknown>) => void this.lines.push({ event, fields })
  warn = this.info
  error = this.info
}

/** Whether there is no such process any more. One that has ended, and whom nobody has asked how, counts as gone. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return true
  }
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/\(.*\)/s, ""))
  } catch {
    return false // a system that does not tell
  }
}
