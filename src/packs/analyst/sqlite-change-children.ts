import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { failure } from "../../protocol/errors.ts"
import { limitedMemory } from "./limited-memory.ts"
import type { SqliteChangeJob, SqliteChangeOutcome, SqliteWord } from "./sqlite-change-job.ts"

/** How a piece of work talks to the process that does it. */
export interface ChangeChild {
  send(message: SqliteChangeJob | SqliteWord): void
  /** What it says next; throws where it has ended instead, or what the signal was aborted with. */
  hear(signal: AbortSignal): Promise<SqliteChangeOutcome>
}

/** So many wait for the next change. */
const IDLE = 1

/** The processes in which SQLite files are changed. One that was broken off in the middle is ended, never used again. */
export class SqliteChangeChildren {
  readonly #idle: ChildProcess[] = []
  readonly #all = new Set<ChildProcess>()

  async run<T>(signal: AbortSignal, work: (child: ChangeChild) => Promise<T>): Promise<T> {
    const child = this.#idle.pop() ?? (await this.#start(signal))
    child.ref()
    child.channel?.ref()
    let asked = 0
    try {
      return await work({
        send(message) {
          asked++
          child.send(message)
        },
        async hear(until) {
          const outcome = await hear(child, until)
          asked = outcome.type === "changed" ? asked : 0
          return outcome
        },
      })
    } finally {
      // What it was asked for it has ended, so nothing of it is left.
      if (asked === 0 && child.exitCode === null && this.#idle.length < IDLE) this.#keep(child)
      else await end(child)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map(end))
  }

  #keep(child: ChildProcess): void {
    child.unref()
    child.channel?.unref()
    this.#idle.push(child)
  }

  async #start(signal: AbortSignal): Promise<ChildProcess> {
    // Beside this file, in the checkout and in a bundle alike, with the same ending.
    const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
    const script = fileURLToPath(new URL(`./sqlite-change-child${ending}`, import.meta.url))
    // Nothing of what this process was told: no key, no address.
    const words = [process.execPath, "--max-old-space-size=256", script]
    const child = spawn(...limitedMemory(words), { env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] })
    this.#all.add(child)
    child.once("exit", () => {
      this.#all.delete(child)
      const place = this.#idle.indexOf(child)
      if (place >= 0) this.#idle.splice(place, 1)
    })
    child.on("error", () => {}) // an exit follows, or the send fails
    try {
      await hear(child, signal) // that it is ready
    } catch (error) {
      await end(child)
      throw error
    }
    return child
  }
}

async function hear(child: ChildProcess, signal: AbortSignal): Promise<SqliteChangeOutcome> {
  const heard = new AbortController()
  const either = AbortSignal.any([signal, heard.signal])
  const gone = once(child, "exit", { signal: either }).then(() => {
    throw failure("connection_failed", { problem: "the process that changes the file broke down" })
  })
  gone.catch(() => {})
  try {
    const [outcome] = await Promise.race([once(child, "message", { signal: either }), gone])
    return outcome as SqliteChangeOutcome
  } finally {
    heard.abort()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.kill("SIGKILL")
  await gone
}
