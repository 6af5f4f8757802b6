/**
 * Runs commands of `pawl` one after the other in this process, as its parent requests them: most of the time of a
 * command is the start of its process. Each command gets its own arguments, environment, folder, umask and standard
 * input.
 *
 *   node test/support/processes/run-commands.ts dist/pawl.js
 */
import { Readable } from "node:stream"
import { pathToFileURL } from "node:url"
import type { Outcome } from "./pawl-process.ts"

export interface CommandInput {
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly stdin: string
  /** The working folder; by default that of this process. */
  readonly cwd: string | undefined
}

const pawl = pathToFileURL(process.argv[2] ?? "").href
const umask = process.umask()
const here = process.cwd()
let count = 0
let last = Promise.resolve()

// Every command adds listeners, and none expects to be one of many.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)
process.on("message", (asked: CommandInput) => {
  last = last.then(async () => void process.send?.(await run(asked)))
})

async function run({ words, environment, stdin, cwd }: CommandInput): Promise<Outcome> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.argv.splice(2, Infinity, ...words)
  process.umask(umask)
  process.chdir(cwd ?? here)
  process.exitCode = 0
  Object.defineProperty(process, "stdin", { value: Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]) })
  using stdout = heard(process.stdout)
  using stderr = heard(process.stderr)
  // The program runs when it is imported. The modules that it imports stay loaded for the next command.
  count += 1
  await import(`${pawl}?${count}`)
  return { code: Number(process.exitCode), stdout: stdout.text(), stderr: stderr.text() }
}

function heard(stream: NodeJS.WriteStream) {
  const { write } = stream
  let all = ""
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    all += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8")
    const told = more.find((each) => typeof each === "function") as (() => void) | undefined
    if (told) queueMicrotask(told)
    return true
  }
  return { text: () => all, [Symbol.dispose]: () => void (stream.write = write) }
}
