import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, basename, join } from "node:path"
import { promisify } from "node:util"
import { fileURLToPath } from "node:url"

/** Where in a file those functions begin that were called, by the name of the file. */
export type Called = ReadonlyMap<string, ReadonlySet<number>>

/** A rehearsal that hangs must not hang a build, also where it is deaf to SIGTERM. */
const LONGEST_MS = 60_000

/** A node of its own: none of the builder's settings, and so no provider, no database and no bus of theirs. */
interface Stage {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly timeout: number
  readonly killSignal: "SIGKILL"
}

/**
 * What the programs in a folder call on their way to a first answer: of an embedded engine, and of a server that a command
 * asks. Nothing of it is left when this ends, however it does.
 */
export async function rehearse(folder: string, longestMs = LONGEST_MS): Promise<Called> {
  const place = await mkdtemp(join(tmpdir(), "pawl-rehearsal-"))
  const seen = join(place, "seen")
  const stage = (name: string): Stage => ({
    env: { PATH: process.env.PATH, HOME: place, PAWL_DATA: join(place, name), NODE_V8_COVERAGE: seen },
    cwd: place,
    ...{ timeout: longestMs, killSignal: "SIGKILL" },
  })
  const acts = [
    run([join(import.meta.dirname, "first-answers.ts"), folder, join(place, "embedded.db")], stage("embedded")),
    serve(join(folder, "pawl.js"), stage("server")),
  ]
  try {
    await Promise.all(acts)
    // V8 names files as they are called behind all links.
    return readSeen(seen, await realpath(folder))
  } finally {
    await Promise.allSettled(acts) // one that goes on would make the folder anew
    await rm(place, { recursive: true, force: true })
  }
}

/** Resolves with what it printed. */
async function run(words: readonly string[], stage: Stage): Promise<string> {
  const running = promisify(execFile)(process.execPath, words, stage)
  running.child.stdin?.end()
  return (await running).stdout
}

async function serve(command: string, stage: Stage): Promise<void> {
  const token = (await run([command, "token", "create", "--user", "ada"], stage)).trim()
  const server = spawn(process.execPath, [command, "serve"], { ...stage, env: { ...stage.env, PAWL_PORT: "0" } })
  const ended = once(server, "close")
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let said = ""
      const hear = (piece: unknown) => {
        const [, found] = /listening on (\S+)\n/.exec((said += String(piece))) ?? []
        if (found) resolve(found)
      }
      server.stdout.on("data", hear)
      server.stderr.on("data", hear)
      ended.then(() => reject(new Error(`The server of the rehearsal has ended: ${said}`)), reject)
    })
    await run([command, "exec", "list my tasks", "--server", url], {
      ...stage,
      env: { ...stage.env, PAWL_TOKEN: token },
    })
    server.kill("SIGTERM")
    await ended
    // On Windows SIGTERM ends a process at once: then what the server has called is not told, and the rest is.
    if (server.exitCode || server.signalCode === "SIGKILL")
      throw new Error(`The server of the rehearsal ended with ${server.exitCode ?? server.signalCode}`)
  } finally {
    server.kill("SIGKILL")
    await ended
  }
}

/** What V8 has written down of each process (`NODE_V8_COVERAGE`). */
interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
    }[]
  }[]
}

function readSeen(seen: string, folder: string): Called {
  const called = new Map<string, Set<number>>()
  for (const name of readdirSync(seen)) {
    const { result } = JSON.parse(readFileSync(join(seen, name), "utf8")) as Coverage
    for (const { url, functions } of result) {
      if (!url.startsWith("file:")) continue
      const path = fileURLToPath(url)
      if (dirname(path) !== folder) continue
      const starts = called.get(basename(path)) ?? new Set()
      called.set(basename(path), starts)
      for (const { ranges } of functions) if (ranges[0] && ranges[0].count > 0) starts.add(ranges[0].startOffset)
    }
  }
  return called
}
