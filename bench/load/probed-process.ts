import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Probed } from "./probe.ts"

const PROBE = join(import.meta.dirname, "probe.ts")

/** A server in its own process that reports its measurements on request. */
export interface ProbedProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  probe(): Promise<Probed>
}

export interface Started {
  readonly script: string
  readonly args?: readonly string[]
  readonly environment?: Record<string, string>
  /** Flags of Node, such as those of a profiler. */
  readonly flags?: readonly string[]
}

/** Resolves when the process has printed `listening on …`. Prints its warnings and errors. */
export async function startProbed({
  script,
  args = [],
  environment = {},
  flags = [],
}: Started): Promise<ProbedProcess> {
  const child: ChildProcess = spawn(process.execPath, ["--import", PROBE, ...flags, script, ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  })
  const stop = () => void child.kill("SIGKILL")
  process.on("exit", stop)
  const ended = once(child, "exit").finally(() => process.off("exit", stop))
  let said = ""
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (text: Buffer) => {
      said = (said + text.toString()).slice(-4000)
      const found = /listening on (\S+)/.exec(said)?.[1]
      if (found) resolve(found)
    }
    child.stdout?.on("data", hear)
    child.stderr?.on("data", (text: Buffer) => {
      hear(text)
    })
    void ended.then(() => reject(new Error(said)))
  })
  return {
    url,
    pid: child.pid ?? 0,
    async probe() {
      const answer = once(child, "message")
      child.send("probe")
      const gone = ended.then(() => {
        throw new Error(`the server is gone: ${said}`)
      })
      return ((await Promise.race([answer, gone])) as [Probed])[0]
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM")
      const timer = setTimeout(stop, 15_000)
      await ended
      clearTimeout(timer)
    },
  }
}
