/**
 * Runs commands of `pawl` one after the other in this process, which is told them by whoever has forked it: most of a
 * command is the start of its process. Each finds its own words, environment, folder, mode and standard input.
 *
 *   node test/support/processes/run-commands.ts dist/pawl.js
 */
import { Readable } from "node:stream"
import { pathToFileURL } from "node:url"
import type { Outcome } from "./pawl-process.ts"

export interface Asked {
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly stdin: string
  /** Where it is run; here unless said. */
  readonly cwd: string | undefined
}

const pawl = pathToFileURL(process.argv[2] ?? "").href
const umask = process.umask()
const here = process.cwd()
let count = 0
let last = Promise.resolve()

// Every command listens, and none expects to be one of many.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)
process.on("message", (asked: Asked) => {
  last = last.then(async () => void process.send?.(await run(asked)))
})

async function run({ words, environment, stdin, cwd }: Asked): Promise<Outcome> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.argv.splice(2, Infinity, ...words)
  process.umask(umask)
  process.chdir(cwd ?? here)
  process.exitCode = 0
  Object.defineProperty(process, "stdin", { value: Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]) })
  using stdout = heard(process.stdout)
  using stderr = heard(process.stderr)
  // It does what it is told when it is loaded; what it has loaded meanwhile is there for the next.
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
