import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { randomBytes } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import { FairQueue } from "./fair-queue.ts"
import { limitedMemory } from "./limited-memory.ts"
import type { SqliteJob, SqliteOutcome } from "./sqlite-job.ts"

/** So many queries at the same time, and one of each person: whoever asks for something endless holds up only themselves. */
const CHILDREN = 2
const WAITING = 20

/** A process that is ready for a query. */
interface Child {
  readonly process: ChildProcess
  readonly scratch: string
}

/** The processes in which SQLite files are read: kept warm, ended with their query when it takes too long, and replaced. */
export class SqliteChildren {
  readonly #queue = new FairQueue({ atOnce: CHILDREN, perPerson: 1, waiting: WAITING })
  readonly #idle: Promise<Child>[] = []
  readonly #all = new Set<ChildProcess>()
  #closed = false

  /** Throws `query_timeout`, or what the signal was aborted with; the process is gone then. */
  run(person: string, job: SqliteJob, signal: AbortSignal): Promise<SqliteOutcome> {
    return this.#queue.run(person, signal, async () => {
      const child = await this.#take()
      const outcome = await this.#ask(child, job, signal)
      this.#idle.push(Promise.resolve(child))
      return outcome
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#all].map((child) => end(child)))
  }

  async #ask({ process: child, scratch }: Child, job: SqliteJob, signal: AbortSignal): Promise<SqliteOutcome> {
    const stopped = new AbortController()
    const { seconds } = job.limits
    const timer = setTimeout(() => stopped.abort(failure("query_timeout", { seconds })), seconds * 1000)
    const giveUp = AbortSignal.any([signal, stopped.signal])
    child.ref()
    try {
      const exit = once(child, "exit", { signal: giveUp }).then(() => {
        throw failure("query_failed", { problem: "the process that read the file broke down" })
      })
      child.send(job)
      const [outcome] = await Promise.race([once(child, "message", { signal: giveUp }), exit])
      exit.catch(() => {})
      return outcome as SqliteOutcome
    } catch (error) {
      await end(child)
      await rm(scratch, { recursive: true, force: true })
      // The next one finds a process that is ready.
      if (!this.#closed) this.#warm()
      throw giveUp.aborted ? giveUp.reason : error
    } finally {
      clearTimeout(timer)
      stopped.abort()
      child.unref()
    }
  }

  /** One that has died while nobody used it is nobody's to wait for. */
  async #take(): Promise<Child> {
    for (let next = this.#idle.pop(); next; next = this.#idle.pop()) {
      const child = await next
      if (child.process.exitCode === null && child.process.signalCode === null) return child
    }
    return this.#start()
  }

  #warm(): void {
    const starting = this.#start()
    starting.catch(() => {}) // whoever takes it is told
    this.#idle.push(starting)
  }

  async #start(): Promise<Child> {
    const scratch = join(tmpdir(), `pawl-sqlite-${randomBytes(8).toString("hex")}`)
    // Beside this file, in the checkout and in a bundle alike, with the same ending.
    const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
    const script = fileURLToPath(new URL(`./sqlite-child${ending}`, import.meta.url))
    const words = [process.execPath, "--max-old-space-size=128", script, scratch, String(process.pid)]
    // Nothing of what this process was told: no key, no address.
    const child = spawn(...limitedMemory(words), { env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] })
    this.#all.add(child)
    child.once("exit", () => this.#all.delete(child))
    child.on("error", () => {}) // an exit follows, or the send fails
    await Promise.race([
      once(child, "message"),
      once(child, "exit").then(() => {
        throw failure("query_failed", { problem: "the process that reads files did not start" })
      }),
    ])
    child.unref()
    child.channel?.unref()
    return { process: child, scratch }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.kill("SIGKILL")
  await gone
}
