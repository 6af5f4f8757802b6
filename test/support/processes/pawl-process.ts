import { type ChildProcess, type StdioOptions, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { atEndOfFile } from "../end-of-file.ts"
import { launcher } from "./package.ts"

/** A folder for one test's data. */
export const dataFolder = (): string => mkdtempSync(join(tmpdir(), inject("testRun"), "data-"))

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Start {
  /** The working folder; by default that of this process. */
  readonly cwd?: string
  readonly stdin?: string
  /** Another program than `pawl` itself. */
  readonly script?: string
  /** Its standard input and output; piped to this process by default. */
  readonly stdio?: StdioOptions
}

/** Ends every process at the end of its file, also if a test fails before it ends its own. */
const living = new Set<PawlProcess>()
atEndOfFile(async () => void (await Promise.all([...living].map((process) => process[Symbol.asyncDispose]()))))

/** `pawl` as a process of its own, without the environment of the test run. */
export class PawlProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Outcome>
  #stdout = ""
  #stderr = ""
  /** The process has ended and all its output is read. */
  #isOver = false
  readonly #waiting = new Set<() => void>()

  constructor(words: readonly string[], environment: Record<string, string> = {}, start: Start = {}) {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const env = { PATH, NODE_COMPILE_CACHE, HOME: tmpdir(), ...environment }
    this.child = spawn(process.execPath, [start.script ?? launcher, ...words], {
      env,
      stdio: start.stdio ?? "pipe",
      ...(start.cwd === undefined ? {} : { cwd: start.cwd }),
    })
    living.add(this)
    this.child.stdin?.end(start.stdin ?? "")
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#heard((this.#stdout += text)))
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#heard((this.#stderr += text)))
    this.ended = once(this.child, "close").then(([code]) => {
      living.delete(this)
      this.#isOver = true
      this.#heard("")
      return { code: code as number | null, stdout: this.#stdout, stderr: this.#stderr }
    })
  }

  /** Resolves with the match of a pattern in the output as soon as there is one. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr)
      if (found) return found
      if (this.#isOver) throw new Error(`It ended without saying ${pattern}:\n${this.#stdout}${this.#stderr}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  kill(signal: NodeJS.Signals): Promise<Outcome> {
    this.child.kill(signal)
    return this.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL")
    await this.ended
  }

  #heard(_text: string): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

/** Runs a command to its end. */
export function pawl(words: readonly string[], environment?: Record<string, string>, stdin?: string): Promise<Outcome> {
  return new PawlProcess(words, environment, stdin === undefined ? {} : { stdin }).ended
}
