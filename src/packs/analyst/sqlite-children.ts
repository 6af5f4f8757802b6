import { randomBytes } from "node:crypto"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Log } from "../../agent/ports.ts"
import { besideModule } from "../../children/beside-module.ts"
import { type Child, ChildDied } from "../../children/child.ts"
import { ChildProgram } from "../../children/child-program.ts"
import { failure } from "../../protocol/errors.ts"
import { FairQueue } from "./fair-queue.ts"
import type { SqliteJob, SqliteOutcome } from "./sqlite-job.ts"

/** So many queries at the same time, and one of each person: whoever asks for something endless holds up only themselves. */
const CHILDREN = 2
const WAITING = 20
/** A query that has ended its process twice will do so again. */
const MOST_TRIES = 2

/** A process that is ready for a query. */
interface Reader {
  readonly child: Child
  readonly scratch: string
}

/** The processes in which SQLite files are read: kept warm, ended with their query when it takes too long, and replaced. */
export class SqliteChildren {
  readonly #queue = new FairQueue({ atOnce: CHILDREN, perPerson: 1, waiting: WAITING })
  readonly #idle: Promise<Reader>[] = []
  readonly #program: ChildProgram
  #closed = false

  constructor(log?: Log, script = besideModule(import.meta.url, "sqlite-child")) {
    this.#program = new ChildProgram({ script, flags: ["--max-old-space-size=128"], megabytes: 256, log })
  }

  /** Throws `query_timeout`, or what the signal was aborted with; the process is gone then. */
  run(person: string, job: SqliteJob, signal: AbortSignal): Promise<SqliteOutcome> {
    return this.#queue.run(person, signal, () => this.#read(job, signal))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#program.close()
  }

  /** On another process where the first has died, which may have been no fault of the query's. */
  async #read(job: SqliteJob, signal: AbortSignal): Promise<SqliteOutcome> {
    let reader = await this.#take()
    const { seconds } = job.limits
    const stopped = new AbortController()
    const timer = setTimeout(() => stopped.abort(failure("query_timeout", { seconds })), seconds * 1000)
    const giveUp = AbortSignal.any([signal, stopped.signal])
    try {
      for (let tries = 1; ; tries++) {
        try {
          return await this.#ask(reader, job, giveUp)
        } catch (error) {
          if (!(error instanceof ChildDied)) throw error
          if (tries === MOST_TRIES || error.ending.tooLarge || this.#closed) throw broken(error)
          reader = await this.#take()
        }
      }
    } finally {
      clearTimeout(timer)
    }
  }

  async #ask(reader: Reader, job: SqliteJob, giveUp: AbortSignal): Promise<SqliteOutcome> {
    const { child, scratch } = reader
    child.hold()
    try {
      child.send(job)
      const outcome = (await child.hear(giveUp)) as SqliteOutcome
      child.release()
      this.#idle.push(Promise.resolve(reader))
      return outcome
    } catch (error) {
      await child.end()
      await rm(scratch, { recursive: true, force: true })
      // The next one finds a process that is ready.
      if (!this.#closed) this.#warm()
      throw error
    }
  }

  /** One that has died while nobody used it is nobody's to wait for. */
  async #take(): Promise<Reader> {
    for (let next = this.#idle.pop(); next; next = this.#idle.pop()) {
      const reader = await next
      if (reader.child.alive) return reader
    }
    return this.#start()
  }

  #warm(): void {
    const starting = this.#start()
    starting.catch(() => {}) // whoever takes it is told
    this.#idle.push(starting)
  }

  async #start(): Promise<Reader> {
    const scratch = join(tmpdir(), `pawl-sqlite-${randomBytes(8).toString("hex")}`)
    try {
      const child = await this.#program.start([scratch])
      child.release()
      return { child, scratch }
    } catch (error) {
      throw error instanceof ChildDied
        ? failure("query_failed", { problem: "the process that reads files did not start" })
        : error
    }
  }
}

function broken({ ending }: ChildDied) {
  const problem = ending.tooLarge ? "it took too much memory" : "the process that read the file broke down"
  return failure("query_failed", { problem })
}
