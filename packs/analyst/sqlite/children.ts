import { randomBytes } from "node:crypto"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import {
  type Child,
  ChildDied,
  ChildProgram,
  failure,
  FairQueue,
  type Log,
  type OtherProgram,
  siblingScript,
} from "../../../core/pack.ts"
import type { SqliteJob, SqliteOutcome } from "./job.ts"

/** Queries that run at the same time, at most one for each person, so that an endless query delays only its owner. */
const CHILDREN = 2
const WAITING = 20
/** The folder that lists the open files of a process, by which a file is checked. */
export const OPEN_FILES = process.platform === "linux" ? ["/proc/self/fd"] : []
/** A query whose process has ended twice is not tried again. */
const MAX_TRIES = 2

/** The folders that the process of one query may read, which depend on the user. */
type Folders = SqliteJob["folders"]

/** A process that is ready for a query on these folders. */
interface Reader {
  readonly folders: Folders
  readonly child: Child
  readonly scratch: string
}

interface Idle {
  readonly folders: Folders
  readonly reader: Promise<Reader>
}

/**
 * The processes that read SQLite files. They are started in advance, ended if their query takes too long, and replaced.
 * Each may read the folders of one person.
 */
export class SqliteChildren {
  readonly #queue = new FairQueue({
    atOnce: CHILDREN,
    perPerson: 1,
    waiting: WAITING,
    tooMany: (most: number) => failure("too_many", { what: "queries of yours", most }),
  })
  #idle: Idle[] = []
  readonly #program: ChildProgram
  #closed = false

  constructor(log?: Log, other?: OtherProgram) {
    const own = other ?? { script: siblingScript(import.meta.url, "sqlite-child") }
    this.#program = new ChildProgram({ ...own, flags: ["--max-old-space-size=128"], megabytes: 256, log })
  }

  /** Throws `query_timeout`, or the reason of the signal; the process has ended then. */
  run(person: string, job: SqliteJob, signal: AbortSignal): Promise<SqliteOutcome> {
    return this.#queue.run(person, signal, () => this.#read(job, signal))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#program.close()
  }

  /** Tries another process if the first one ends, because the query may not be the cause. */
  async #read(job: SqliteJob, signal: AbortSignal): Promise<SqliteOutcome> {
    let reader = await this.#take(job.folders)
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
          if (tries === MAX_TRIES || error.ending.tooLarge || this.#closed) throw broken(error)
          reader = await this.#take(job.folders)
        }
      }
    } finally {
      clearTimeout(timer)
    }
  }

  async #ask(reader: Reader, job: SqliteJob, giveUp: AbortSignal): Promise<SqliteOutcome> {
    const { child, scratch, folders } = reader
    child.hold()
    try {
      child.send(job)
      const outcome = (await child.hear(giveUp)) as SqliteOutcome
      child.release()
      this.#keep({ folders, reader: Promise.resolve(reader) })
      return outcome
    } catch (error) {
      await child.end()
      await rm(scratch, { recursive: true, force: true })
      // Start a process for the next query.
      if (!this.#closed) this.#warm(folders)
      throw error
    }
  }

  /** Skips processes that exited while they were idle. */
  async #take(folders: Folders): Promise<Reader> {
    for (;;) {
      const index = this.#idle.findLastIndex((idle) => isDeepStrictEqual(idle.folders, folders))
      const [idle] = index < 0 ? [] : this.#idle.splice(index, 1)
      if (!idle) return this.#start(folders)
      const reader = await idle.reader
      if (reader.child.alive) return reader
    }
  }

  #warm(folders: Folders): void {
    const reader = this.#start(folders)
    reader.catch(() => {}) // reported to the caller that uses it
    this.#keep({ folders, reader })
  }

  /** Retains only the last used processes; users of the others may not return. */
  #keep(idle: Idle): void {
    this.#idle.push(idle)
    const [oldest] = this.#idle.length > CHILDREN ? this.#idle.splice(0, 1) : []
    oldest?.reader.then(({ child }) => child.end()).catch(() => {}) // one that did not start needs no end
  }

  async #start(folders: Folders): Promise<Reader> {
    const scratch = join(tmpdir(), `pawl-sqlite-${randomBytes(8).toString("hex")}`)
    try {
      const files = { reads: [...folders, scratch, ...OPEN_FILES], writes: [scratch] }
      const child = await this.#program.start({ words: [scratch], files })
      child.release()
      return { folders, child, scratch }
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
