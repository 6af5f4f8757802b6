import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { atEndOfFile } from "../end-of-file.ts"
import { isLong } from "../sizes.ts"
import { type Outcome, PawlProcess } from "./pawl-process.ts"
import type { CommandInput } from "./run-commands.ts"

let runner: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()
atEndOfFile(async () => {
  if (!runner) return
  runner.kill("SIGKILL")
  await once(runner, "exit")
  runner = undefined
})

/**
 * Runs a command to its end, one after the other in a process that the file's commands share. It is the published
 * command, but without signals, a terminal, and an exit. In the long run each has a process of its own.
 */
export function command(
  words: readonly string[],
  environment: Record<string, string> = {},
  stdin = "",
  cwd?: string,
): Promise<Outcome> {
  if (isLong) return new PawlProcess(words, environment, { stdin, ...(cwd === undefined ? {} : { cwd }) }).ended
  const { PATH = "" } = process.env
  const asked: CommandInput = { words, environment: { PATH, HOME: tmpdir(), ...environment }, stdin, cwd }
  const outcome = last.then(() => ask(asked))
  last = outcome.catch(() => {})
  return outcome
}

async function ask(asked: CommandInput): Promise<Outcome> {
  runner ??= fork(join(import.meta.dirname, "run-commands.ts"), [join(inject("package"), "dist", "pawl.js")], {
    execArgv: [],
  })
  const [child, over] = [runner, new AbortController()]
  const ended = once(child, "exit", over).then(([code]) => {
    runner = undefined
    throw new Error(`The process that runs commands ended with ${String(code)} at pawl ${asked.words.join(" ")}`)
  })
  const answered = once(child, "message", over) as Promise<[Outcome]>
  child.send(asked)
  const [outcome] = await Promise.race([answered, ended]).finally(() => over.abort())
  return outcome
}
